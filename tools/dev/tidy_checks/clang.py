"""What needs clang: the lock analysis over all our sources, each header on its own, and clang-tidy.

Only parses (-fsyntax-only): no object files, so this is several times cheaper than a build. Ninja runs it, so a second run looks
at what changed alone.
"""

import json
import os
import shlex
import subprocess

PRESET = 'analyze'
_FOLDER = 'build-analyze'
# Tests hold locks by way of the product's classes, which are analysed; parsing them all would double the time.
_LEFT_OUT = ('tests/', 'tools/cmake/')


def _configure(root):
    """Configures the preset and generates what the sources include. True when that worked."""
    quiet = {'cwd': root, 'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, 'text': True, 'check': False}
    for command in (['cmake', '--preset', PRESET], ['cmake', '--build', '--preset', PRESET, '--target', 'mc_generated']):
        result = subprocess.run(command, **quiet)
        if result.returncode != 0:
            print(result.stdout)
            print(f'tidy: {shlex.join(command)} failed')
            return False
    return True


def parsed_first_by_its_source(root, header):
    """True when the source beside the header includes it before all else: parsing that source alone tries the header alone."""
    source = os.path.join(root, os.path.splitext(header)[0] + '.cc')
    if not os.path.exists(source):
        return False
    with open(source, encoding='utf-8') as file:
        first = next((line.split()[1] for line in file if line.startswith('#include ')), '')
    return first == f'"{header}"'


def _commands(root):
    """(path from the root or of a generated stub, compiler command) of each of our sources and stand-alone headers."""
    with open(os.path.join(root, _FOLDER, 'compile_commands.json'), encoding='utf-8') as file:
        entries = json.load(file)
    for entry in entries:
        source = os.path.relpath(entry['file'], root)
        header_alone = '_verify_interface_header_sets/' in source
        if source.startswith(_FOLDER + '/') and not header_alone:
            continue
        shown = source
        if header_alone:
            shown = source.split('_verify_interface_header_sets/', 1)[1]
            if parsed_first_by_its_source(root, os.path.splitext(shown)[0]):
                continue
        if not shown.startswith(_LEFT_OUT):
            yield source, entry['command'], entry['directory']


def syntax_only(command):
    """The compiler command without launcher and outputs, and with -fsyntax-only."""
    words = shlex.split(command)
    while os.path.basename(words[0]) == 'ccache':
        words.pop(0)
    kept = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ('-o', '-MT', '-MF'):
            skip = True
        elif word not in ('-c', '-MD'):
            kept.append(word)
    return kept + ['-fsyntax-only']


def _ninja_escape(text):
    return text.replace('$', '$$').replace(' ', '$ ').replace(':', '$:')


def write_ninja(root, commands):
    """Writes a ninja file with one edge per command; its outputs are stamps."""
    # A builddir of its own: ninja keeps its log there, and the preset's own build has the usual one.
    lines = ['ninja_required_version = 1.5',
             'builddir = parsed',
             'rule parse',
             '  command = cd $folder && $compiler -MD -MF $out.d -MT $out && touch $out',
             '  depfile = $out.d',
             '  deps = gcc',
             '  description = $in']
    for source, command, folder in commands:
        stamp = os.path.join(root, _FOLDER, 'parsed', source.replace('/', '_') + '.ok')
        lines.append(f'build {_ninja_escape(stamp)}: parse {_ninja_escape(os.path.join(root, source))}')
        lines.append('  folder = ' + shlex.quote(folder).replace('$', '$$'))
        lines.append('  compiler = ' + shlex.join(syntax_only(command)).replace('$', '$$'))
    os.makedirs(os.path.join(root, _FOLDER, 'parsed'), exist_ok=True)
    path = os.path.join(root, _FOLDER, 'parse.ninja')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines) + '\n')
    return path


def analyze(root):
    """True when clang has nothing to say."""
    if not _configure(root):
        return False
    commands = list(_commands(root))
    if not commands:
        print('tidy: clang found no sources of ours')
        return False
    ninja = write_ninja(root, commands)
    result = subprocess.run(['ninja', '-k', '0', '--quiet', '-f', ninja], cwd=os.path.join(root, _FOLDER),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        print(result.stdout)
    print(f'tidy: clang parsed {len(commands)} sources and headers: ' + ('clean' if result.returncode == 0 else 'FINDINGS above'))
    return result.returncode == 0


def deep(root, files):
    """Runs clang-tidy over `files`, or over all sources; the exit code for the caller."""
    if not _configure(root):
        return 1
    if not files:
        files = [source for source, _, _ in _commands(root) if source.endswith('.cc') and not source.startswith(_FOLDER)]
    command = ['xargs', '-0', '-n', '1', '-P', str(os.cpu_count()), 'clang-tidy-14', '--quiet', '-p', os.path.join(root, _FOLDER)]
    return subprocess.run(command, input='\0'.join(sorted(set(files))), text=True, cwd=root, check=False).returncode
