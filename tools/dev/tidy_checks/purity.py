"""The pure cores call nothing that reads the world: looked up among the undefined symbols of the built archives."""

import glob
import os
import re
import subprocess

from tidy_checks.tree import Finding

CORES = ('master/core', 'storenode/core', 'client/core')

# Demangled symbol -> what it stands for.
DENIED = (
    (r'std::chrono::.*_clock::now|clock_gettime|gettimeofday|time|timespec_get|clock', 'reads a clock'),
    (r'mooncake::(\w+::)*SystemClock\b.*|mooncake::(\w+::)*RealClock\b.*', 'reads a clock'),
    (r'pthread_\w+|std::thread\b.*|std::condition_variable\b.*|std::(__\w+::)?_M_\w*thread.*|sem_\w+', 'uses threads or locks'),
    (r'mooncake::(\w+::)*(Mutex|SharedMutex|CondVar)::.*', 'uses locks'),
    (r'__tls_get_addr|__emutls_get_address|TLS (init|wrapper) function .*', 'uses a thread-local'),
    (r'(secure_)?getenv|setenv', 'reads the environment'),
    (r'open(64)?|openat(64)?|creat|read|write|pread(64)?|pwrite(64)?|fopen(64)?|fdopen|stat(64)?|mmap(64)?|shm_open'
     r'|std::(__\w+::)?basic_[io]?f(ile)?stream.*|std::(__\w+::)?basic_filebuf.*|std::filesystem::.*', 'touches files'),
    (r'socket|connect|bind|listen|accept4?|send(to|msg)?|recv(from|msg)?|poll|epoll_\w+', 'touches sockets'),
    (r'std::random_device\b.*|s?rand(om)?(_r)?|[dlm]rand48|getrandom|getentropy', 'draws chance that no seed repeats'),
    (r'google::.*|printf|fprintf|puts|putchar|fputs|fputc|fwrite|perror|syslog|std::c(out|err|log|in)', 'logs or prints'),
    (r'u?sleep|nanosleep|clock_nanosleep|sched_yield', 'sleeps'),
    (r'_?exit|system|fork|vfork|exec[lv]p?e?|kill|raise|signal|sigaction', 'deals with processes'),
)
_DENIED = [(re.compile(pattern), what) for pattern, what in DENIED]
_SYMBOL = re.compile(r'\s+U\s+(.*)$')
_MEMBER = re.compile(r'^(\S+\.o):$')


def denied(symbol):
    """What the symbol does that a core must not, or None."""
    plain = re.sub(r'@.*$', '', symbol)
    for pattern, what in _DENIED:
        if pattern.fullmatch(plain) or pattern.fullmatch(plain.split('(')[0]):
            return what
    return None


def check_listing(core, listing, member_path):
    """Findings in the output of `nm -uC`; member_path gives an object file's source, None if not ours."""
    findings = []
    source = None
    for line in listing.splitlines():
        member = _MEMBER.match(line)
        if member:
            source = member_path(member.group(1))
            continue
        symbol = source and _SYMBOL.match(line)
        what = symbol and denied(symbol.group(1))
        if what:
            findings.append(Finding(source, 1, f'the pure core {what}: {symbol.group(1)}',
                                    'take it from Env, or leave it to the shell by way of Effects'))
    return findings


def check(tree, build_dir):
    findings = []
    for core in CORES:
        sources = {path for path in tree.cxx_files if path.startswith(core + '/') and path.endswith('.cc')}
        if not sources:
            continue
        found = False
        # A core's archive lies in the build folder of whichever CMakeLists.txt declared it.
        top = core.split('/')[0]
        for archive in glob.glob(os.path.join(build_dir, top, '**', '*.a'), recursive=True):
            by_object = {member: source for member in _members(archive)
                         for source in _sources_of(archive, member, sources)}
            if by_object:
                found = True
                listing = subprocess.run(['nm', '-uC', archive], check=True, capture_output=True, text=True).stdout
                findings += check_listing(core, listing, by_object.get)
        if not found:
            findings.append(Finding(core, 1, f'no archive in {build_dir} holds this core, so its symbols went unchecked',
                                    'build the preset release first, or pass --build-dir'))
    return findings


def _sources_of(archive, member, sources):
    """Those of `sources` that the member was compiled from: several when it is a unity source."""
    target = os.path.basename(archive)[len('lib'):-len('.a')]
    unity = os.path.join(os.path.dirname(archive), 'CMakeFiles', target + '.dir', 'Unity', member[:-len('.o')])
    if os.path.exists(unity):
        with open(unity, encoding='utf-8') as text:
            included = re.findall(r'^#include "([^"]+)"', text.read(), re.MULTILINE)
        return [source for source in sources if any(path.endswith('/' + source) for path in included)]
    return [source for source in sources if os.path.basename(source) + '.o' == member]


def _members(archive):
    return subprocess.run(['ar', 't', archive], check=True, capture_output=True, text=True).stdout.split()
