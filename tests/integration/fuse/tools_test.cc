// What people do with files, each compared with what an ordinary file system makes of it.
#include "tests/integration/fuse/mount_fixture.h"

namespace mooncake::testing {
namespace {

using ToolsTest = EachDataPath;

// A tree with all kinds of names and sizes in $W/tree.
constexpr char kMakeTree[] = R"sh(
mkdir -p "$W/tree/sub/deep" "$W/tree/empty dir"
for n in 0 1 4095 4096 4097 65536 300000 1048576 1048577; do head -c $n /dev/urandom > "$W/tree/sub/f$n"; done
printf x > "$W/tree/$(printf 'caf\xe9')"; printf y > "$W/tree/$(printf 'n\nl')"; printf z > "$W/tree/ sp ace "
printf q > "$W/tree/-dash"; printf p > "$W/tree/100%"
ln -s ../sub/f1 "$W/tree/sub/deep/link"; ln -s nowhere "$W/tree/dangling"
chmod 600 "$W/tree/sub/f1"; chmod 755 "$W/tree/sub/f4096"; touch -d '2001-02-03 04:05:06.123456789' "$W/tree/sub/f0"
)sh";

TEST_P(ToolsTest, CpRecursiveAndDiff) {
  Sh(std::string(kMakeTree) +
     R"sh(cp -r "$W/tree" "$M/t"; diff -r --no-dereference "$W/tree" "$M/t")sh");
}

TEST_P(ToolsTest, CpArchiveKeepsModesAndTimes) {
  Sh(std::string(kMakeTree) + R"sh(
cp -a "$W/tree" "$M/t"
cd "$W/tree"; find . -printf '%p %m %U %G %y %l %TY-%Tm-%Td %TT\n' ! -type d | sort > "$W/want"
cd "$M/t";    find . -printf '%p %m %U %G %y %l %TY-%Tm-%Td %TT\n' ! -type d | sort > "$W/have"
cd "$W"; diff want have)sh");
}

TEST_P(ToolsTest, TarThereAndBack) {
  Sh(std::string(kMakeTree) + R"sh(
tar -C "$W" -cf "$M/t.tar" tree; mkdir "$M/out"; tar -C "$M/out" -xf "$M/t.tar"
diff -r --no-dereference "$W/tree" "$M/out/tree"
tar -C "$M/out" -cf - tree | tar -C "$W" -xf - --one-top-level=back; diff -r --no-dereference "$W/tree" "$W/back/tree")sh");
}

TEST_P(ToolsTest, RsyncTwiceCopiesNothingTheSecondTime) {  // F018
  EXPECT_EQ(Sh(std::string(kMakeTree) + R"sh(
rsync -a "$W/tree/" "$M/t/"; diff -r --no-dereference "$W/tree" "$M/t"
rsync -ai "$W/tree/" "$M/t/"
rsync -a --inplace "$W/tree/" "$M/t2/"; diff -r --no-dereference "$W/tree" "$M/t2"
cp -p /etc/hostname "$M/h"; python3 -c "import shutil; shutil.copy2('/etc/hostname', '$M/h2')"
cmp "$M/h" "$M/h2")sh"),
            "");
}

TEST_P(ToolsTest, GitInitAddCommitClone) {  // F027
  const std::string out = Sh(R"sh(
export HOME="$W"; cd "$M"; git init -q t; cd t; echo a > a; mkdir d; head -c 200000 /dev/urandom > d/b
git add .; git -c user.name=x -c user.email=x@x commit -qm first
echo b >> a; git -c user.name=x -c user.email=x@x commit -qam second
git clone -q . ../t2; cd ../t2; git log --format=%s; git fsck --strict 2>/dev/null; git gc -q; git status --short
cmp d/b ../t/d/b)sh");
  EXPECT_EQ(out, "second\nfirst");
}

TEST_P(ToolsTest, RewritingAnExistingFile) {  // F005
  Sh(R"sh(
python3 -c "open('$M/k','w').write('one')"; python3 -c "open('$M/k','w').write('two')"; test "$(cat "$M/k")" = two
truncate -s 0 "$M/k"; test ! -s "$M/k"; echo three > "$M/k"; test "$(cat "$M/k")" = three
cp /etc/hostname "$M/k"; cmp /etc/hostname "$M/k"; sed -i 's/$/!/' "$M/k"; grep -q '!' "$M/k")sh");
}

TEST_P(ToolsTest, SparseAndRandomWritesEqualAnOrdinaryFile) {  // F006
  Sh(R"sh(cat > "$W/p.py" <<'E'
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
os.pwrite(fd, b'a' * 4096, 0); os.pwrite(fd, b'b' * 4096, 1 << 20); os.pwrite(fd, b'c' * 4096, 4096)
os.ftruncate(fd, 1 << 21); os.pwrite(fd, b'd', (1 << 21) + 5); os.ftruncate(fd, (1 << 21) + 3)
os.close(fd)
E
python3 "$W/p.py" "$M/k"; python3 "$W/p.py" "$W/k"; cmp "$M/k" "$W/k")sh");
}

TEST_P(ToolsTest, ForkedChildAndDupDoNotEndTheFile) {  // F007
  Sh(R"sh(
python3 -c "import os;f=open('$M/k','wb',0);f.write(b'a'*10);os.system('true');f.write(b'b'*10);f.close()"
test "$(cat "$M/k")" = aaaaaaaaaabbbbbbbbbb
python3 -c "
import os
fd=os.open('$M/d',os.O_WRONLY|os.O_CREAT); os.write(fd,b'x'*10); d=os.dup(fd); os.close(d); os.write(fd,b'y'*10); os.close(fd)"
test "$(cat "$M/d")" = xxxxxxxxxxyyyyyyyyyy
{ echo one; /bin/echo two; (echo three); } > "$M/s"; test "$(wc -l < "$M/s")" = 3)sh");
}

TEST_P(ToolsTest, WhatCloseAcknowledgedCanBeReadAtOnce) {  // F008
  Sh(R"sh(
for i in $(seq 200); do head -c 4096 /dev/urandom > "$W/x"; cp "$W/x" "$M/k$i"; cmp "$W/x" "$M/k$i"; done)sh");
}

TEST_P(ToolsTest, AppendLoopBesideListing) {  // F028
  Sh(R"sh(
touch "$W/go"; (while [ -e "$W/go" ]; do ls -l "$M" > /dev/null; done) & lister=$!
for i in $(seq 500); do echo a >> "$M/a"; done
rm "$W/go"; wait $lister; test "$(wc -c < "$M/a")" = 1000)sh");
}

TEST_P(ToolsTest, TwoProcessesAppendToOneFile) {
  Sh(R"sh(
(exec >> "$M/log"; for i in $(seq 300); do echo aaaaaaaaaa; done) & one=$!
(exec >> "$M/log"; for i in $(seq 300); do echo bbbbbbbbbb; done) & two=$!
wait $one; wait $two
test "$(grep -c '^aaaaaaaaaa$' "$M/log")" = 300; test "$(grep -c '^bbbbbbbbbb$' "$M/log")" = 300)sh");
}

TEST_P(ToolsTest, RenamingATemporaryFileBeforeItIsClosed) {  // F029
  Sh(R"sh(cat > "$W/p.py" <<'E'
import os, sys
d = sys.argv[1]
fd = os.open(d + '/.tmp', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
os.write(fd, b'1' * 8192); os.rename(d + '/.tmp', d + '/doc'); os.write(fd, b'2' * 8192); os.close(fd)
E
echo old > "$M/doc"; python3 "$W/p.py" "$M"; python3 "$W/p.py" "$W"; cmp "$M/doc" "$W/doc"; test ! -e "$M/.tmp")sh");
}

TEST_P(ToolsTest, RemovingAFileThatIsOpen) {  // F026
  EXPECT_EQ(Sh(R"sh(
mkdir "$M/d"; echo content > "$M/d/f"; exec 3< "$M/d/f"; rm "$M/d/f"; ls -A "$M/d"; rmdir "$M/d"; cat <&3)sh"),
            "content");
}

TEST_P(ToolsTest, DirectIoOfAnySize) {  // F034
  Sh(R"sh(
dd if=/dev/zero of="$M/o" bs=4096 count=4 oflag=direct status=none; test "$(stat -c %s "$M/o")" = 16384
dd if="$M/o" bs=4096 iflag=direct status=none | wc -c | grep -qx 16384
dd if=/dev/urandom of="$W/r" bs=1000 count=7 status=none
dd if="$W/r" of="$M/r" bs=1000 oflag=direct status=none; cmp "$W/r" "$M/r"
dd if="$M/r" of="$W/r2" bs=1000 iflag=direct status=none; cmp "$W/r" "$W/r2")sh");
}

TEST_P(ToolsTest, MmapSharedReadPrivateAndWrite) {
  EXPECT_EQ(Sh(R"sh(python3 - "$M" <<'E'
import mmap, os, sys
p = sys.argv[1] + '/m'
open(p, 'wb').write(b'x' * 300001)
f = open(p, 'rb'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); assert m[:] == b'x' * 300001; m.close()
m = mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE); m[0:1] = b'p'; m.close(); f.close()
f = open(p, 'r+b'); m = mmap.mmap(f.fileno(), 0); m[5:8] = b'abc'; m[300000:] = b'z'; m.flush(); m.close(); f.close()
b = open(p, 'rb').read(); print(b[:10], b[-2:], len(b))
E
)sh"),
            "b'xxxxxabcxx' b'xz' 300001");
}

TEST_P(ToolsTest, EmptyFilesAndSeekToTheEnd) {
  EXPECT_EQ(Sh(R"sh(
touch "$M/e"; : > "$M/f"; stat -c %s "$M/e" "$M/f"; cat "$M/e"
printf 12345 > "$M/g"; python3 -c "
import os
fd=os.open('$M/g',os.O_RDONLY); print(os.lseek(fd,0,2), os.lseek(fd,-2,2), os.read(fd,9))")sh"),
            "0\n0\n5 3 b'45'");
}

TEST_P(ToolsTest, RemoveRecursively) {
  EXPECT_EQ(Sh(std::string(kMakeTree) + R"sh(cp -r "$W/tree" "$M/t"; rm -r "$M/t"; ls -A "$M")sh"),
            "");
}

TEST_P(ToolsTest, RenamingADirectoryTree) {
  Sh(std::string(kMakeTree) + R"sh(
cp -r "$W/tree" "$M/t"; mv "$M/t" "$M/u"; diff -r --no-dereference "$W/tree" "$M/u"; test ! -e "$M/t"
mkdir -p "$M/x/y"; mv "$M/u" "$M/x/y/"; diff -r --no-dereference "$W/tree" "$M/x/y/u")sh");
}

TEST_P(ToolsTest, ParallelReadersOfRandomWindows) {  // F030
  Sh(R"sh(cat > "$W/p.py" <<'E'
import os, random, sys, threading
path, ref = sys.argv[1], open(sys.argv[2], 'rb').read()
bad = []
def run(seed):
    r = random.Random(seed); fd = os.open(path, os.O_RDONLY)
    for _ in range(60):
        at = r.randrange(0, len(ref) + 1000)
        if os.pread(fd, 131072, at) != ref[at:at + 131072]: bad.append(at)
    os.close(fd)
ts = [threading.Thread(target=run, args=(i,)) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
sys.exit(1 if bad else 0)
E
for n in 8388608 131071 131073; do
  head -c $n /dev/urandom > "$W/r"; cp "$W/r" "$M/k"; python3 "$W/p.py" "$M/k" "$W/r"
  head -c 5000 /dev/urandom >> "$W/r"; cp "$W/r" "$M/k"; python3 "$W/p.py" "$M/k" "$W/r"
done)sh");
}

TEST_P(ToolsTest, LocksWorkBetweenProcesses) {
  Sh(R"sh(
touch "$M/l"; exec 3<> "$M/l"; flock -n 3; ! flock -n "$M/l" true; flock -u 3; flock -n "$M/l" true
python3 -c "
import fcntl
f=open('$M/l','r+'); fcntl.lockf(f, fcntl.LOCK_EX|fcntl.LOCK_NB)")sh");
}

TEST_P(ToolsTest, SqliteDatabase) {
  EXPECT_EQ(Sh(R"sh(python3 - "$M" <<'E'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1] + '/db'); c.execute('create table t(a, b)')
c.executemany('insert into t values(?, ?)', [(i, 'x' * i) for i in range(500)]); c.commit(); c.close()
c = sqlite3.connect(sys.argv[1] + '/db'); print(c.execute('select count(*), sum(length(b)) from t').fetchone(),
      c.execute('pragma integrity_check').fetchone())
E
)sh"),
            "(500, 124750) ('ok',)");
}

INSTANTIATE_TEST_SUITE_P(Mount, ToolsTest, ::testing::Values("auto", "off"),
                         [](const auto& path) { return std::string(path.param); });

}  // namespace
}  // namespace mooncake::testing
