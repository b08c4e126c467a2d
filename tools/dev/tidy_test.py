#!/usr/bin/env python3
"""Tests of tools/dev/tidy: each check finds what it is for, and leaves alone what is right."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

# pylint: disable=wrong-import-position
from tidy_checks import behaviours, clang, includes, lengths, purity, readmes, registered, table, words  # noqa: E402
from tidy_checks.tree import Tree, code_of  # noqa: E402


class TreeCase(unittest.TestCase):
    """Makes small source trees, a new one each time."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def tree(self, files):
        self.root = tempfile.mkdtemp(dir=self.folder.name)
        for path, text in files.items():
            full = os.path.join(self.root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, 'w', encoding='utf-8') as file:
                file.write(text)
        return Tree(self.root)

    def messages(self, findings):
        return [f'{f.path}:{f.line}: {f.message}' for f in findings]


class CodeOf(unittest.TestCase):
    def test_blanks_comments_and_literals_and_keeps_lines(self):
        text = 'a; // getenv\n/* getenv\n getenv */ b("getenv \\" x"); c(R"x(\n getenv)x");\n'
        self.assertNotIn('getenv', code_of(text))
        self.assertEqual(code_of(text).count('\n'), text.count('\n'))
        self.assertIn('b(""); c(""', code_of(text))

    def test_digit_separators_are_not_characters(self):
        self.assertIn('getenv', code_of("int a = 1'000; getenv(0); int b = 2'000;"))


class Includes(TreeCase):
    def check(self, path, include, *present):
        files = {path: include + '\n'}
        files.update({header: '#pragma once\n' for header in present})
        return [f for f in includes.check(self.tree(files)) if f.path == path]

    def test_down_is_right(self):
        self.assertEqual([], self.check('master/core/a.cc', '#include "transfer/base/status.h"', 'transfer/base/status.h'))

    def test_own_folder_is_right(self):
        self.assertEqual([], self.check('master/core/ops/a.cc', '#include "master/core/b.h"', 'master/core/b.h'))

    def test_up_is_found_and_names_the_line(self):
        found = self.check('transfer/base/a.cc', '\n#include "client/store_client.h"', 'client/store_client.h')
        self.assertEqual([2], [f.line for f in found])
        self.assertIn('may not include', found[0].message)

    def test_control_plane_moves_no_bytes(self):
        for header in ('transfer/engine/transfer_engine.h', 'transfer/transport/transport.h'):
            self.assertEqual(1, len(self.check('master/server/a.cc', f'#include "{header}"', header)))

    def test_core_sees_types_but_not_the_rest_of_api(self):
        self.assertEqual([], self.check('master/core/a.cc', '#include "master/api/types.h"', 'master/api/types.h'))
        self.assertEqual(1, len(self.check('master/core/a.cc', '#include "master/api/wire.h"', 'master/api/wire.h')))

    def test_only_embedded_joins_client_and_node(self):
        header = 'storenode/node/store_node.h'
        self.assertEqual([], self.check('client/embedded/a.cc', f'#include "{header}"', header))
        self.assertEqual(1, len(self.check('client/a.cc', f'#include "{header}"', header)))

    def test_nothing_uses_tests(self):
        header = 'tests/support/fake.h'
        for path in ('tools/bench/a.cc', 'client/a.cc'):
            self.assertEqual(1, len(self.check(path, f'#include "{header}"', header)))

    def test_third_party_stays_in_its_adapter(self):
        for include, inside, outside in (
                ('<infiniband/verbs.h>', 'transfer/transport/rdma/a.cc', 'transfer/transport/tcp/a.cc'),
                ('<fuse_lowlevel.h>', 'fuse/ops/a.cc', 'fuse/fs/a.cc'),
                ('<thrift/Thrift.h>', 'master/api/wire.cc', 'master/core/a.cc'),
                ('"master/api/gen-cpp/master_types.h"', 'master/server/thrift_handler.cc', 'client/a.cc'),
                ('<rocksdb/db.h>', 'storenode/storage/rocksdb_backend.cc', 'storenode/node/a.cc')):
            with self.subTest(include):
                self.assertEqual([], self.check(inside, f'#include {include}'))
                self.assertEqual(1, len(self.check(outside, f'#include {include}')))

    def test_shape_of_includes(self):
        self.assertEqual(1, len(self.check('client/a.cc', '#include "a.h"')))
        self.assertEqual(1, len(self.check('client/e.cc', '#include "core/x.h"', 'client/core/x.h')))
        self.assertEqual([], self.check('client/f.cc', '#include "absl/hash/hash.h"'))
        self.assertEqual(1, len(self.check('client/b.cc', '#include "client/absent.h"')))
        self.assertEqual(1, len(self.check('client/c.cc', '#include <client/x.h>', 'client/x.h')))
        self.assertEqual(1, len(self.check('client/d.cc', '#include <expected>')))

    def test_unknown_folder_is_found(self):
        found = self.check('master/misc/a.cc', '#include "master/misc/a.h"', 'master/misc/a.h')
        self.assertIn('no row', found[0].message)

    def test_the_table_has_no_cycle_between_rows(self):
        order = list(table.MAY_INCLUDE)
        for library, allowed in table.MAY_INCLUDE.items():
            for prefix in allowed:
                rows = [order.index(other) for other in order if prefix == other]
                if rows and library not in ('client/', 'client/embedded/', 'fuse/') and not library.startswith(('tools', 'tests')):
                    self.assertLessEqual(rows[0], order.index(library), f'{library} -> {prefix}')


class Words(TreeCase):
    def names(self, path, line):
        found = words.check(self.tree({path: line + '\n'}))
        return [f.message.split('(')[1].split(')')[0] for f in found if 'banned' in f.message]

    def test_finds_each_word_and_knows_its_home(self):
        for name, line, outside, home in (
                ('std-mutex', 'std::mutex m;', 'client/a.cc', 'transfer/base/mutex.h'),
                ('std-mutex', 'std::lock_guard lock(m);', 'tests/unit/a_test.cc', 'transfer/base/mutex.cc'),
                ('getenv', 'auto* v = std::getenv("A");', 'master/server/a.cc', 'master/server/config.cc'),
                ('getenv', 'auto* v = getenv("A");', 'tools/admin/a.cc', 'tools/admin/admin_config.cc'),
                ('print', 'std::cout << 1;', 'client/a.cc', 'tools/admin/a.cc'),
                ('print', 'printf("x");', 'storenode/node/a.cc', 'storenode/node/storenode_main.cc'),
                ('sleep', 'std::this_thread::sleep_for(x);', 'tests/unit/a_test.cc', 'tests/support/wait.cc'),
                ('clock', 'auto t = std::chrono::steady_clock::now();', 'client/a.cc', 'transfer/base/clock.cc'),
                ('volatile', 'volatile int x;', 'client/a.cc', 'tests/bench/a_bench.cc'),
                ('todo', '// TODO: later', 'client/a.cc', None),
                ('using-namespace', 'using namespace std;', 'client/a.cc', None),
                ('uniform-distribution', 'std::uniform_int_distribution<int> d;', 'master/core/a.cc', 'tools/bench/a.cc')):
            with self.subTest(name=name, line=line):
                self.assertEqual([name], self.names(outside, line))
                if home:
                    self.assertEqual([], self.names(home, line))

    def test_leaves_alone_what_only_looks_like_it(self):
        for line in ('// std::mutex is banned', 'Log("getenv");', 'std::snprintf(b, n, "x");', 'asm volatile("" ::: "memory");',
                     '// TODO(#12): later', '  using namespace std::chrono_literals;', 'sleeper.sleep(1);'):
            self.assertEqual([], self.names('tests/unit/x_test.cc', line), line)

    def test_allow_needs_the_name_and_a_reason(self):
        self.assertEqual([], self.names('client/a.cc', 'volatile int x;  // tidy-allow(volatile): a signal handler sets it'))
        self.assertEqual(['volatile'], self.names('client/b.cc', 'volatile int x;  // tidy-allow(volatile):'))
        self.assertEqual(['volatile'], self.names('client/c.cc', 'volatile int x;  // tidy-allow(print): no'))

    def test_headers_need_a_guard(self):
        self.assertEqual(1, len(words.check(self.tree({'client/a.h': 'int f();\n'}))))
        self.assertEqual([], words.check(self.tree({'client/b.h': '#pragma once\n'}))[1:])


class Lengths(TreeCase):
    BODY = '  x();\n'

    def measured(self, text):
        return [(name, line, length) for name, line, length in lengths.functions(code_of(text))]

    def test_measures_functions_methods_and_tests(self):
        text = ('namespace a {\n'
                'int F(int x) {\n' + self.BODY * 3 + '}\n'
                'class C : public B {\n public:\n'
                '  C(int a)\n      : a_{a}, b_(a) {\n' + self.BODY * 2 + '  }\n'
                '  int g() const { return 1; }\n'
                '  int table_[2] = {1, 2};\n'
                '};\n'
                'template <typename T>\nstruct D {\n  void h(int d = {}) {\n' + self.BODY + '  }\n};\n'
                'TEST_F(Suite, Case) {\n' + self.BODY + '}\n'
                '}  // namespace a\n')
        self.assertEqual([('F', 2, 5), ('C', 9, 5), ('g', 14, 1), ('h', 19, 3), ('Suite.Case', 23, 3)], self.measured(text))

    def test_macros_and_initialisers_are_no_functions(self):
        self.assertEqual([], self.measured('#define A(x) \\\n  do { \\\n  } while (0)\nconst T kA[] = {f(1), {2}};\nenum class E { a };\n'))

    def test_over_the_limit_is_found(self):
        text = 'void Long() {\n' + self.BODY * 100 + '}\n'
        self.assertEqual(['client/a.cc:1: function Long has 102 lines, over 70'],
                         self.messages(lengths.check(self.tree({'client/a.cc': text}))))

    def test_limits_by_kind(self):
        files = {'client/a.cc': '\n' * 401, 'client/a.h': '\n' * 201, 'tests/a_test.cc': '\n' * 801, 'client/b.cc': '\n' * 400}
        self.assertEqual({'client/a.cc', 'client/a.h', 'tests/a_test.cc'},
                         {f.path for f in lengths.check(self.tree(files))})

    def test_the_list_excuses_but_only_shrinks(self):
        source = {'client/a.cc': '\n' * 410}
        self.assertEqual([], lengths.check(self.tree({lengths.LIST: 'client/a.cc 410\n', **source})))
        self.assertIn('grew', lengths.check(self.tree({lengths.LIST: 'client/a.cc 405\n', **source}))[0].message)
        self.assertEqual(lengths.LIST, lengths.check(self.tree({lengths.LIST: 'client/a.cc 420\n', **source}))[0].path)
        self.assertIn('within', lengths.check(self.tree({lengths.LIST: 'client/a.cc 410\nclient/b.cc 500\n', **source}))[0].message)

    def test_shrink_lowers_and_removes_and_never_adds(self):
        tree = self.tree({lengths.LIST: '# why\nclient/a.cc 420\nclient/gone.cc 500\n', 'client/a.cc': '\n' * 410,
                          'client/new.cc': '\n' * 500})
        lengths.shrink(tree)
        self.assertEqual('# why\nclient/a.cc 410\n', Tree(self.root).text(lengths.LIST))


class Registered(TreeCase):
    def test_finds_what_no_list_names(self):
        tree = self.tree({'tests/unit/CMakeLists.txt': 'mc_test(t SOURCES in/a_test.cc) # b_test.cc\n',
                          'tests/unit/in/a_test.cc': '', 'tests/unit/in/b_test.cc': '',
                          'client/CMakeLists.txt': 'mc_library(mc_c SOURCES a.cc HEADERS h.h)\n',
                          'client/a.cc': '', 'client/a.h': '', 'client/h.h': '', 'client/dead.cc': '', 'client/lost.h': '',
                          'client/c_test.cc': ''})
        self.assertEqual({'tests/unit/in/b_test.cc', 'client/dead.cc', 'client/lost.h', 'client/c_test.cc'},
                         {f.path for f in registered.check(tree)})


class Readmes(TreeCase):
    def test_five_parts_as_headings_or_bold(self):
        full = "# x\n\n## What it is\n**What it isn't.** no\n## File map\n**May depend on** std.\n## How to test it\n"
        tree = self.tree({'client/README.md': full, 'client/core/a.cc': '', 'client/core/README.md': full.replace('File map', 'Files'),
                          'fuse/fs/a.cc': '', 'fuse/README.md': full, 'tests/README.md': full, 'tests/unit/a_test.cc': ''})
        self.assertEqual(['client/core/README.md:1: no part "File map"', 'fuse/fs/README.md:1: missing'],
                         self.messages(readmes.check(tree)))


class Behaviours(TreeCase):
    LISTS = 'mc_test(t\n  SOURCES a_test.cc in/suite.cc  # b_test.cc\n  DEPS x)\n'
    SOURCES = {'tests/unit/CMakeLists.txt': LISTS,
               'tests/unit/a_test.cc': '#include "tests/suite.h"\nTEST_F(A, One) {}\n// TEST(A, Gone)\nMY_INSTANTIATE_SUITE(Far, &Make)\n',
               'tests/unit/in/suite.cc': 'TEST_P(Suite,\n       Two) {}\n', 'tests/suite.h': 'TEST_P(Shared, Three) {}\n'}

    def check(self, *rows):
        others = [f'| {n} | x | | not yet |\n' for n in behaviours.NUMBERS if n > len(rows)]
        table = ''.join(f'| {n} | x | {row} | |\n' for n, row in enumerate(rows, 1)) + ''.join(others)
        return [f.message for f in behaviours.check(self.tree({**self.SOURCES, behaviours.TABLE: table}))]

    def test_tests_that_exist_are_right(self):
        self.assertEqual([], self.check('`t/A.One`<br>`t/Far/Suite.Two`', '`t/Suite.Two` `t/Shared.Three` and `not a name`'))

    def test_tests_that_do_not_exist_are_found(self):
        self.assertEqual(['no test t/A.Gone: there is no such case', 'no test u/A.One: there is no such program',
                          'no test t/Suite.Two: there is no such instance'],
                         self.check('`t/A.Gone`', '`u/A.One`', '`t/Near/Suite.Two`'))

    def test_each_behaviour_has_one_row_that_says_something(self):
        table = '| 1 | x | | |\n| 2 | | | |\n| 1 | y | | |\n'
        found = [f.message for f in behaviours.check(self.tree({behaviours.TABLE: table}))]
        self.assertIn('1 has a row already, line 1', found)
        self.assertIn('2 says nothing', found)
        self.assertIn('no row for behaviour 3', found)
        self.assertNotIn('no row for behaviour 99', found)


class Purity(unittest.TestCase):
    def test_denied_symbols(self):
        for symbol in ('std::chrono::_V2::steady_clock::now()', 'clock_gettime', 'clock_gettime@GLIBC_2.17', 'pthread_mutex_lock',
                       'getenv', 'open64', 'socket', 'std::random_device::_M_getval()', 'google::LogMessage::stream()',
                       'usleep', 'std::cout', '__tls_get_addr', 'time', 'std::thread::_M_start_thread(int)',
                       'std::condition_variable::notify_one()', 'mooncake::SystemClock::Now() const',
                       'mooncake::Mutex::Lock()'):
            self.assertIsNotNone(purity.denied(symbol), symbol)

    def test_harmless_symbols(self):
        for symbol in ('memcpy', 'operator new(unsigned long)', 'snprintf', 'std::__throw_length_error(char const*)',
                       '__cxa_guard_acquire', 're2::RE2::RE2(char const*)', 'mooncake::core::Shard::read(int)',
                       'mooncake::internal::CheckFailure::~CheckFailure()', 'std::__cxx11::basic_ostringstream<char>::str()'):
            self.assertIsNone(purity.denied(symbol), symbol)

    def test_listing_names_the_source_and_skips_other_members(self):
        listing = '\na.cc.o:\n                 U getenv\n\nother.cc.o:\n                 U getenv\n'
        found = purity.check_listing('master/core', listing, {'a.cc.o': 'master/core/a.cc'}.get)
        self.assertEqual(['master/core/a.cc'], [f.path for f in found])
        self.assertIn('environment', found[0].message)


class Clang(unittest.TestCase):
    def test_command_loses_launcher_and_outputs(self):
        self.assertEqual(['clang++', '-I/r', '-std=c++20', '/r/a.cc', '-fsyntax-only'],
                         clang.syntax_only('/usr/bin/ccache clang++ -I/r -std=c++20 -MD -MT x -MF x.d -o a.o -c /r/a.cc'))

    def test_only_a_source_that_includes_its_header_first_tries_it_alone(self):
        with tempfile.TemporaryDirectory() as root:
            for name, text in (('first.cc', '// Why.\n#include "first.h"\n\n#include <string>\n'),
                               ('later.cc', '#include <string>\n\n#include "later.h"\n'),
                               ('none.cc', 'int a;\n')):
                with open(os.path.join(root, name), 'w', encoding='utf-8') as file:
                    file.write(text)
            self.assertTrue(clang.parsed_first_by_its_source(root, 'first.h'))
            for header in ('later.h', 'none.h', 'absent.h'):
                self.assertFalse(clang.parsed_first_by_its_source(root, header), header)


if __name__ == '__main__':
    unittest.main()
