"""Files and functions stay short. Old offenders are listed in tools/dev/lengths.txt, a list that may only shrink.

A line of the list is `path lines` or `path:function lines`.
"""

import os
import re

from tidy_checks.tree import Finding

LIST = 'tools/dev/lengths.txt'
FUNCTION_LIMIT = 70
_CONTAINER = re.compile(r'(?:\btemplate\b.*>\s*)?\b(?:class|struct|union|enum|namespace|extern)\b[^()=]*(?:\([^()]*\)[^()=]*)?$', re.S)
_NAME = re.compile(r'(~?[\w:]+(?:<[^<>()]*>)?|\boperator\s*\S+?)\s*\(')
_TEST = re.compile(r'\s*(?:TYPED_)?(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP)\s*\(\s*(\w+)\s*,\s*(\w+)')
_ACCESS = ('public', 'protected', 'private')
_DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.M)


def file_limit(path):
    if path.startswith('tests/'):
        return 800
    return 200 if path.endswith('.h') else 400


def _name_of(head):
    test = _TEST.match(head)
    if test:
        return f'{test.group(1)}.{test.group(2)}'
    match = _NAME.search(head)
    return match.group(1) if match else 'unnamed'


def _is_function(head):
    return '(' in head and not head.rstrip().endswith(('=', ',', '(')) and not _CONTAINER.match(head.strip())


def functions(code):
    """Yields (name, first line, number of lines) of each function body that is not inside another function.

    Follows braces through `code`, text without comments and literals; namespaces and classes are looked into.
    """
    code = _DIRECTIVE.sub(lambda match: '\n' * match.group(0).count('\n'), code)
    head, head_line = '', 0  # what was read since the last statement, and where it began
    line, parens, inside = 1, 0, 0  # inside: depth of braces within the function or initialiser being skipped
    function = None  # (name, first line) while inside > 0
    for position, char in enumerate(code):
        if char == '\n':
            line += 1
        if inside:
            inside += (char == '{') - (char == '}')
            if inside == 0:
                rest = code[position + 1:position + 200].lstrip()
                if function and (parens or rest.startswith((',', '{', ')'))):
                    head += '{}'  # a member initialiser or a default argument: the body is still to come
                elif function:
                    yield function[0], function[1], line - function[1] + 1
                    head = ''
                else:
                    head += '{}'
                function = None
            continue
        parens += (char == '(') - (char == ')')
        if char == '{':
            if parens or _is_function(head):
                function = (_name_of(head), head_line)
                inside = 1
            elif _CONTAINER.match(head.strip()):
                head = ''
            else:
                inside = 1
        elif char == '}' or (char == ';' and not parens) or (char == ':' and head in _ACCESS):
            head = ''
        elif head or not char.isspace():
            if not head:
                head_line = line
            head += char


def read_list(tree):
    entries = {}
    if tree.exists(LIST):
        for number, line in enumerate(tree.lines(LIST), 1):
            if line.strip() and not line.startswith('#'):
                key, _, length = line.rpartition(' ')
                entries[key.strip()] = (int(length), number)
    return entries


def measure(tree):
    """All that is over its limit: key -> (path, line, lines, limit, what)."""
    over = {}
    for path in tree.cxx_files:
        count = len(tree.lines(path))
        if count > file_limit(path):
            over[path] = (path, 1, count, file_limit(path), 'file')
        for name, line, length in functions('\n'.join(tree.code_lines(path))):
            if length > FUNCTION_LIMIT:
                over[f'{path}:{name}'] = (path, line, length, FUNCTION_LIMIT, f'function {name}')
    return over


def check(tree):
    over = measure(tree)
    listed = read_list(tree)
    findings = []
    for key, (path, line, length, limit, what) in over.items():
        if key not in listed:
            findings.append(Finding(path, line, f'{what} has {length} lines, over {limit}', 'split it by idea'))
        elif length > listed[key][0]:
            findings.append(Finding(path, line, f'{what} grew from {listed[key][0]} to {length} lines, over {limit}',
                                    'old offenders may only shrink: split it'))
        elif length < listed[key][0]:
            findings.append(Finding(LIST, listed[key][1], f'{key} now has {length} lines',
                                    'lower its entry: tools/dev/tidy --shrink-lengths'))
    for key, (_, number) in listed.items():
        if key not in over:
            findings.append(Finding(LIST, number, f'{key} is within its limit now',
                                    'remove its entry: tools/dev/tidy --shrink-lengths'))
    return findings


def shrink(tree):
    """Rewrites the list with what is left of it; never adds and never raises an entry."""
    over = measure(tree)
    kept = []
    for line in tree.lines(LIST):
        key, _, length = line.rpartition(' ')
        if not line.strip() or line.startswith('#'):
            kept.append(line)
        elif key.strip() in over:
            kept.append(f'{key.strip()} {min(int(length), over[key.strip()][2])}')
    with open(os.path.join(tree.root, LIST), 'w', encoding='utf-8') as file:
        file.write('\n'.join(kept) + '\n')
