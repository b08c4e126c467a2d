#!/usr/bin/env python3
"""Installs the client package to a temporary folder, builds client/examples against it with CMake and with pkg-config, and runs both
programs against a master and a node on loopback.

  client_install_test.py --source ROOT --build BUILD --cxx COMPILER [--flags "…"]
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXPECTED = ['get: Hello, store!', 'range: store', 'view: Hello, store!', 'list: examples/hello 13 bytes',
            'removed, so it exists: false']


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True, timeout=300, **options)
    if done.returncode != 0:
        sys.exit(f'{command}: exit {done.returncode}\n{done.stdout}{done.stderr}')
    return done.stdout


class Daemon:
    """A program that runs until the end of the test; ready once its log says so."""

    def __init__(self, *command):
        self.process = subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE, text=True)
        self.ready = ''
        for line in self.process.stderr:
            if re.search(r'\] ready ', line):
                self.ready = line
                return
        sys.exit(f'{command}: ended with {self.process.wait()} before it was ready')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        rest = self.process.stderr.read()
        if self.process.wait(timeout=30) != 0:
            sys.exit(f'exit {self.process.returncode}\n{rest}')


def build_with_cmake(options, prefix, work):
    run('cmake', '-S', options.source / 'client/examples', '-B', work / 'cmake', f'-DCMAKE_PREFIX_PATH={prefix}',
        f'-DCMAKE_CXX_COMPILER={options.cxx}', f'-DCMAKE_CXX_FLAGS={options.flags}')
    run('cmake', '--build', work / 'cmake')
    return work / 'cmake/hello_store'


def build_with_pkgconfig(options, prefix, work):
    folder = next(prefix.rglob('mooncake_client.pc')).parent
    flags = run('pkg-config', '--cflags', '--libs', 'mooncake_client', env={**os.environ, 'PKG_CONFIG_PATH': str(folder)})
    program = work / 'hello_pkgconfig'
    run(options.cxx, '-std=c++20', *options.flags.split(), options.source / 'client/examples/hello_store.cc', *flags.split(),
        f'-Wl,-rpath,{folder.parent}', '-o', program)
    return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--source', type=pathlib.Path, required=True)
    parser.add_argument('--build', type=pathlib.Path, required=True)
    parser.add_argument('--cxx', required=True)
    parser.add_argument('--flags', default='')
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix='client-install-'))
    try:
        prefix = work / 'prefix'
        run('cmake', '--install', options.build, '--component', 'client', '--prefix', prefix)
        programs = [build_with_cmake(options, prefix, work), build_with_pkgconfig(options, prefix, work)]
        with Daemon(options.build / 'bin/mooncake-master', '--rpc_address=127.0.0.1', '--rpc_port=0', '--metrics_port=0') as master:
            address = re.search(r'rpc_address=(\S+)', master.ready).group(1)
            with Daemon(options.build / 'bin/mooncake-storenode', f'--master={address}', '--name=n1', '--segment_size=64MiB',
                        '--listen=127.0.0.1:0'):
                for program in programs:
                    lines = run(program, address).splitlines()
                    if lines != EXPECTED:
                        sys.exit(f'{program} printed {lines}, not {EXPECTED}')
    finally:
        shutil.rmtree(work)


if __name__ == '__main__':
    main()
