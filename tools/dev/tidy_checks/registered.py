"""Every source is named by a CMakeLists.txt at or above its folder: no test is left out, no file is dead."""

import os
import re

from tidy_checks.tree import Finding

_WORD = re.compile(r'[\w./+-]+')


def _names_above(tree, path):
    """Paths, from the root, that the CMakeLists.txt files at and above `path` mention."""
    folder = os.path.dirname(path)
    while True:
        lists = os.path.join(folder, 'CMakeLists.txt')
        if tree.exists(lists):
            yield folder, _words(tree, lists)
        if not folder:
            return
        folder = os.path.dirname(folder)


def _words(tree, lists):
    cache = tree.__dict__.setdefault('_cmake_words', {})
    if lists not in cache:
        text = re.sub(r'#[^\n]*', '', tree.text(lists))
        cache[lists] = set(_WORD.findall(text))
    return cache[lists]


def is_named(tree, path):
    return any(os.path.relpath(path, folder or '.') in words for folder, words in _names_above(tree, path))


def check(tree):
    findings = []
    for path in tree.cxx_files:
        if path.startswith('tools/cmake/'):
            continue
        if path.endswith('_test.cc') and not path.startswith('tests/'):
            findings.append(Finding(path, 1, 'a test outside tests/', 'move it to tests/unit/<same path>'))
        if is_named(tree, path):
            continue
        if path.endswith('_test.cc'):
            findings.append(Finding(path, 1, 'no mc_test() names this file: it never runs',
                                    'name it in a CMakeLists.txt at or above its folder'))
        elif path.endswith('.cc'):
            findings.append(Finding(path, 1, 'no CMakeLists.txt names this file: it is dead',
                                    'name it in a CMakeLists.txt at or above its folder, or delete it'))
        elif not (tree.exists(path[:-2] + '.cc') and is_named(tree, path[:-2] + '.cc')):
            findings.append(Finding(path, 1, 'no CMakeLists.txt names this header, so nothing compiles it alone',
                                    'name it under HEADERS of its mc_library(), or delete it'))
    return findings
