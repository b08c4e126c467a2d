"""Sources are as clang-format leaves them."""

import os
import re
import subprocess

from tidy_checks.tree import Finding

_PLACE = re.compile(r'^(?P<path>[^:\n]+):(?P<line>\d+):\d+: error: code should be clang-formatted', re.M)


def check(tree):
    result = subprocess.run([os.path.join(tree.root, 'tools/dev/format'), '--check'], capture_output=True, text=True, check=False)
    first = {}
    for match in _PLACE.finditer(result.stderr):
        first.setdefault(match.group('path'), int(match.group('line')))
    findings = [Finding(path, line, 'not formatted', 'run tools/dev/format') for path, line in first.items()]
    if result.returncode != 0 and not findings:
        findings.append(Finding('tools/dev/format', 1, 'failed: ' + result.stderr.strip()[-300:], 'see its message'))
    return findings
