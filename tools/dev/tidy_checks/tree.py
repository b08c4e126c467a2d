"""The source tree as the checks see it: file names, lines, and lines with comments and strings blanked."""

import dataclasses
import functools
import os
import re

TOP_FOLDERS = ('transfer', 'master', 'storenode', 'client', 'fuse', 'tools', 'tests')
CXX_ENDINGS = ('.cc', '.h')

_NOT_CODE = re.compile(
    r'//[^\n]*'
    r'|/\*.*?\*/'
    r'|\bR"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL)


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    message: str
    cure: str

    def __str__(self):
        return f'{self.path}:{self.line}: {self.message} -> {self.cure}'


def _blank(match):
    text = match.group(0)
    newlines = '\n' * text.count('\n')
    if text.startswith('/'):
        return newlines or ' '
    # An empty literal keeps the line's shape, e.g. for the operators around it.
    return '""' + newlines


def code_of(text):
    """The text without comments and without the insides of literals; line numbers stay."""
    return _NOT_CODE.sub(_blank, text)


class Tree:
    def __init__(self, root):
        self.root = root

    @functools.cached_property
    def files(self):
        """Paths from the root, sorted, of all files in the top-level folders."""
        found = []
        for top in TOP_FOLDERS:
            for folder, subfolders, names in os.walk(os.path.join(self.root, top)):
                subfolders[:] = sorted(s for s in subfolders if s != '__pycache__' and not s.startswith('.'))
                relative = os.path.relpath(folder, self.root)
                found.extend(os.path.join(relative, name) for name in names)
        return sorted(found)

    @functools.cached_property
    def cxx_files(self):
        return [path for path in self.files if path.endswith(CXX_ENDINGS)]

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        with open(os.path.join(self.root, path), encoding='utf-8', errors='replace') as file:
            return file.read()

    @functools.lru_cache(maxsize=None)
    def lines(self, path):
        return self.text(path).splitlines()

    @functools.lru_cache(maxsize=None)
    def code_lines(self, path):
        return code_of(self.text(path)).splitlines()

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))
