"""Each folder has a README with the five parts of house style."""

import os
import re

from tidy_checks.tree import TOP_FOLDERS, Finding

# Each part is a heading, or a paragraph that opens with its name in bold.
PARTS = (
    ('What it is', re.compile(r"what it is(?!n|\s+not)", re.I)),
    ("What it isn't", re.compile(r"what it (?:isn['’]t|is not)", re.I)),
    ('File map', re.compile(r'file map', re.I)),
    ('May depend on', re.compile(r'may depend on', re.I)),
    ('How to test it', re.compile(r'how to test', re.I)),
)
_OPENING = re.compile(r'(?:#+\s*|\*\*)(\S.*)')
_SOURCES = ('.cc', '.h', '.py', '.thrift', '.cmake', '.sh', '.proto')


def folders(tree):
    """The top-level folders and those right below that hold sources. tests/ answers for all below it."""
    found = set()
    for path in tree.files:
        parts = path.split('/')
        found.add(parts[0])
        if len(parts) > 2 and parts[0] != 'tests' and path.endswith(_SOURCES):
            found.add('/'.join(parts[:2]))
    return sorted(found & set(TOP_FOLDERS) | {folder for folder in found if '/' in folder})


def check(tree):
    findings = []
    for folder in folders(tree):
        readme = os.path.join(folder, 'README.md')
        if not tree.exists(readme):
            findings.append(Finding(readme, 1, 'missing',
                                    'write it, with the parts: ' + ', '.join(name for name, _ in PARTS)))
            continue
        openings = [match.group(1) for match in map(_OPENING.match, tree.lines(readme)) if match]
        for name, pattern in PARTS:
            if not any(pattern.match(opening) for opening in openings):
                findings.append(Finding(readme, 1, f'no part "{name}"', f'add "## {name}" with its text'))
    return findings
