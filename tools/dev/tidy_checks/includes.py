"""Includes go down the dependency table, from the repository root, and third-party headers stay in their adapters."""

import os
import re

from tidy_checks import table
from tidy_checks.tree import TOP_FOLDERS, Finding

_INCLUDE = re.compile(r'\s*#\s*include\s+([<"])([^>"]+)[>"]')
_OURS = tuple(top + '/' for top in TOP_FOLDERS)
# What g++ 12 or clang 14 lack.
_ABSENT = {'expected': '"transfer/base/result.h"', 'format': 'string concatenation or absl::StrFormat',
           'source_location': '__FILE__ and __LINE__ in a macro'}


def library_of(path):
    """The longest prefix of the table that `path` starts with, or None."""
    return max((prefix for prefix in table.MAY_INCLUDE if path.startswith(prefix)), key=len, default=None)


def _check_ours(path, number, header):
    if library_of(path) is None:
        return Finding(path, number, 'this folder has no row in the dependency table',
                       'add one in tools/dev/tidy_checks/table.py')
    own = library_of(path)
    if library_of(header) == own or header.startswith(table.MAY_INCLUDE[own]):
        return None
    allowed = ', '.join(table.MAY_INCLUDE[own]) or 'nothing of ours'
    return Finding(path, number, f'{own} may not include "{header}"',
                   f'move the code, or go through what {own} may use: {allowed}')


def _check_third_party(path, number, header):
    for name, pattern, places in table.THIRD_PARTY:
        if re.match(pattern, header) and not path.startswith(places + ('tests/',)):
            return Finding(path, number, f'{name} header <{header}> outside its adapter',
                           'only these may include it: ' + ', '.join(places))
    if header in _ABSENT:
        return Finding(path, number, f'<{header}> is missing or unusable in g++ 12 or clang 14',
                       f'use {_ABSENT[header]}')
    return None


def _is_beside(tree, path, header):
    """Whether the quotes find the header from the file's own folder, or can't mean a third party's for want of a folder."""
    return '/' not in header or tree.exists(os.path.normpath(os.path.join(os.path.dirname(path), header)))


def check(tree):
    findings = []
    for path in tree.cxx_files:
        for number, line in enumerate(tree.lines(path), 1):
            match = _INCLUDE.match(line)
            if not match:
                continue
            bracket, header = match.groups()
            if 'gen-cpp/' in header or not header.startswith(_OURS):
                finding = _check_third_party(path, number, header)
                if finding is None and bracket == '"' and _is_beside(tree, path, header):
                    finding = Finding(path, number, f'"{header}" is not given from the repository root',
                                      'write "folder/…/file.h" for ours, <…> for third-party headers')
            elif bracket == '<':
                finding = Finding(path, number, f'<{header}> is ours', 'use quotes')
            elif not tree.exists(header):
                finding = Finding(path, number, f'"{header}" does not exist', 'correct the path')
            else:
                finding = _check_ours(path, number, header)
            if finding:
                findings.append(finding)
    return findings
