"""Words that house style bans, and where each is at home all the same.

A line may carry `// tidy-allow(NAME): reason` to be let off the check NAME.
"""

import dataclasses
import re

from tidy_checks.tree import Finding

_ALLOW = re.compile(r'//\s*tidy-allow\((?P<name>[a-z-]+)\):\s*\S')


@dataclasses.dataclass(frozen=True)
class Ban:
    name: str
    pattern: re.Pattern
    cure: str
    at_home: re.Pattern  # files in which the word is right
    only_in: re.Pattern = re.compile('')
    in_comments: bool = False


def _ban(name, pattern, cure, at_home=r'(?!)', **rest):
    if 'only_in' in rest:
        rest['only_in'] = re.compile(rest['only_in'])
    return Ban(name, re.compile(pattern), cure, re.compile(at_home), **rest)


BANS = (
    _ban('std-mutex',
         r'\bstd::(?:recursive_|timed_|recursive_timed_|shared_|shared_timed_)?mutex\b'
         r'|\bstd::(?:lock_guard|unique_lock|scoped_lock|shared_lock|condition_variable|condition_variable_any)\b'
         r'|\bpthread_mutex_|\bpthread_cond_',
         'use mooncake::Mutex, MutexLock, CondVar of transfer/base/mutex.h: the lock analysis sees only these',
         at_home=r'transfer/base/mutex\.(h|cc)$'),
    _ban('getenv', r'\bgetenv\b', 'read the environment in a config file only, and hand options down',
         at_home=r'(.*/)?config[^/]*$|.*_config\.(h|cc)$|tests/support/'),
    _ban('print', r'\bstd::(?:cout|cerr|clog)\b|(?<![\w:])(?:std::)?(?:printf|fprintf|puts|putchar|perror)\s*\(',
         'log with glog, or return the text to the caller',
         at_home=r'tools/|tests/|client/examples/|.*_main\.cc$|transfer/base/check\.cc$|fuse/(daemon|start_pipe)\.cc$'),
    _ban('sleep', r'\b(?:sleep_for|sleep_until|usleep|nanosleep)\b|(?<![\w.>:])sleep\s*\(',
         'move a ManualClock, or wait for the condition with a helper of tests/support',
         at_home=r'tests/support/', only_in=r'tests/'),
    _ban('clock', r'\b(?:steady|system|high_resolution)_clock::now\b|\bclock_gettime\b|\bgettimeofday\b|\btime\s*\(\s*(?:nullptr|NULL|0)\s*\)',
         'take a Clock&; transfer/base/clock is the only reader of OS time',
         at_home=r'transfer/base/clock\.(h|cc)$|tests/(support|bench|integration|stress)/|tools/bench/|client/examples/'),
    _ban('volatile', r'(?<!asm )(?<!asm__ )\bvolatile\b', 'use std::atomic with a comment that names the pairing access',
         at_home=r'tests/bench/'),
    _ban('todo', r'\b(?:TODO|FIXME|XXX)\b(?!\(#\d+\))', 'write TODO(#issue number), or do it', in_comments=True),
    _ban('using-namespace', r'^using namespace\b', 'name what is used, or put it inside a function'),
    _ban('uniform-distribution', r'\bstd::(?:uniform_int|uniform_real|normal|bernoulli|discrete)_distribution\b|\bstd::shuffle\b',
         'use the bounded draws of transfer/base/rng.h: the library\'s differ between implementations',
         only_in=r'(master|storenode|client)/core/|tests/sim/'),
)


def check(tree):
    findings = []
    for path in tree.cxx_files:
        raw = tree.lines(path)
        code = tree.code_lines(path)
        bans = [ban for ban in BANS if ban.only_in.match(path) and not ban.at_home.match(path)]
        for number, line in enumerate(raw, 1):
            stripped = code[number - 1] if number <= len(code) else ''
            for ban in bans:
                match = ban.pattern.search(line if ban.in_comments else stripped)
                if not match:
                    continue
                allow = _ALLOW.search(line)
                if allow and allow.group('name') == ban.name:
                    continue
                findings.append(Finding(path, number, f'banned here ({ban.name}): {match.group(0).strip()}', ban.cure))
        if path.endswith('.h') and not any(line.strip() == '#pragma once' for line in raw):
            findings.append(Finding(path, 1, 'no include guard', 'add #pragma once'))
    return findings
