"""Each test that tests/behaviours.md names exists, and its table has a row for each behaviour that it promises."""

import os
import re

from tidy_checks.tree import Finding

TABLE = 'tests/behaviours.md'
# The numbers that the table answers for; those between belong to parts that have no table yet.
NUMBERS = (*range(1, 78), *range(100, 110), 137)

_PROGRAM = re.compile(r'\bmc_test\(\s*([\w-]+)([^)]*)\)')
_CASE = re.compile(r'\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)')
_SUITE = re.compile(r'^#include "(tests/[^"]+\.h)"', re.M)  # suites for several programs stand in headers
# INSTANTIATE_TEST_SUITE_P, and our own macros around it.
_INSTANCE = re.compile(r'\b(?:\w*INSTANTIATE\w*|MC_\w*SUITE)\(\s*(\w+)')
_ROW = re.compile(r'\|\s*(\d+)\s*\|(.*)\|\s*$')
# `program/Suite.Case`, or with the instance of a parameterised suite: `program/Instance/Suite.Case`.
_NAME = re.compile(r'`([\w-]+)/(?:(\w+)/)?(\w+)\.(\w+)`')


def programs(tree):
    """Name of a test program -> its cases as (suite, case), and the names of its instances."""
    found = {}
    for lists in tree.files:
        if os.path.basename(lists) != 'CMakeLists.txt' or not lists.startswith('tests/'):
            continue
        text = re.sub(r'#[^\n]*', '', tree.text(lists))
        for name, arguments in _PROGRAM.findall(text):
            cases, instances = set(), set()
            for word in arguments.split():
                source = os.path.normpath(os.path.join(os.path.dirname(lists), word))
                if not source.endswith('.cc') or not tree.exists(source):
                    continue
                headers = [header for header in _SUITE.findall(tree.text(source)) if tree.exists(header)]
                for path in (source, *headers):
                    code = '\n'.join(tree.code_lines(path))
                    cases.update(_CASE.findall(code))
                    instances.update(_INSTANCE.findall(code))
            found[name] = (cases, instances)
    return found


def _missing(found, program, instance, suite, case):
    if program not in found:
        return 'program'
    cases, instances = found[program]
    if (suite, case) not in cases:
        return 'case'
    if instance and instance not in instances:
        return 'instance'
    return None


def check(tree):
    if not tree.exists(TABLE):
        return []
    findings = []
    found = programs(tree)
    rows = {}
    for number, line in enumerate(tree.lines(TABLE), 1):
        for program, instance, suite, case in _NAME.findall(line):
            what = _missing(found, program, instance, suite, case)
            if what:
                name = f'{program}/{suite}.{case}'
                findings.append(Finding(TABLE, number, f'no test {name}: there is no such {what}',
                                        'name the test that shows it now'))
        row = _ROW.match(line)
        if not row:
            continue
        behaviour = int(row.group(1))
        if behaviour in rows:
            findings.append(Finding(TABLE, number, f'{behaviour} has a row already, line {rows[behaviour]}', 'merge them'))
        rows.setdefault(behaviour, number)
        if not row.group(2).strip(' |'):
            findings.append(Finding(TABLE, number, f'{behaviour} says nothing', 'name a test, or say why there is none'))
    for behaviour in NUMBERS:
        if behaviour not in rows:
            findings.append(Finding(TABLE, 1, f'no row for behaviour {behaviour}', 'add it'))
    return findings
