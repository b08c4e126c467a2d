#!/usr/bin/env bash
# From nothing to a working folder: installs what is needed, builds, and mounts an embedded store. May be repeated.
#   tools/quickstart.sh DIR [SIZE]      SIZE of the store, like 4GiB; without it, what mount.mooncake takes by itself
set -euo pipefail

if [[ $# -lt 1 || $# -gt 2 || $1 == -* ]]; then
  sed -n '2,3s/^# //p' "$0" >&2
  exit 2
fi
dir=$(realpath -sm -- "$1")
size=${2:-}
root=$(dirname "$(dirname "$(readlink -f "$0")")")
bin=$root/build/bin

fail() {
  echo "quickstart: $1" >&2
  exit 1
}

# The kind of file system mounted exactly at DIR; empty when none is. Reads a table only, so a dead mount can't block it.
mounted() {
  findmnt -n -o FSTYPE --mountpoint "$dir" | tail -n 1 || true
}

# yes, or the reason why not; never waits long, whatever the state of the mount.
answers() {
  local error
  if error=$(LC_ALL=C timeout -k 1 10 stat -f -- "$dir" 2>&1 >/dev/null); then
    echo yes
  else
    echo "${error:-no answer within 10 s}"
  fi
}

next_steps() {
  cat <<END

Mooncake is mounted at $dir. Try:
    cp -r /usr/share/common-licenses $dir/licenses && ls -la $dir/licenses
    diff -r /usr/share/common-licenses $dir/licenses && echo same bytes
    df -h $dir
    $bin/mooncake-admin --master=$(findmnt -n -o SOURCE --mountpoint "$dir") status
    $bin/mooncake-admin --help
Stop it, and forget what is in it:
    umount $dir
END
}

kind=$(mounted)
if [[ -n $kind ]]; then
  [[ $kind == fuse.mooncake || $kind == fuse ]] || fail "$dir is a mount of kind $kind; choose another folder."
  answer=$(answers)
  case $answer in
    yes)
      echo "quickstart: $dir is already mounted and answers."
      next_steps
      exit 0
      ;;
    *"not connected"*)
      echo "quickstart: cleaning up the dead mount at $dir"
      umount -l -- "$dir" || fail "the dead mount at $dir could not be removed; run as root: umount -l $dir"
      ;;
    *)
      # Its process may live, with data in it, so this is not ours to throw away.
      fail "the mount at $dir does not answer ($answer); see whether its process is stopped, or give it up: umount -l $dir"
      ;;
  esac
fi

"$root/tools/dev/setup" build

echo "quickstart: building (some minutes the first time, seconds later)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
configure=(cmake --preset release)
if ! grep -qs '^MC_BUILD_TESTS:BOOL=ON$' "$root/build/CMakeCache.txt"; then
  # The test libraries need not be there; tools/test.sh turns tests on.
  configure+=(-D MC_BUILD_TESTS=OFF)
fi
(cd "$root" && "${configure[@]}" && cmake --build --preset programs) >"$log" 2>&1 || {
  tail -n 60 "$log" >&2
  fail "the build failed; its last lines are above."
}

mkdir -p -- "$dir"
[[ -z $(ls -A -- "$dir") ]] || fail "$dir is not empty, and a mount would hide what is in it; choose another folder."
[[ -c /dev/fuse ]] || modprobe fuse 2>/dev/null || true
[[ -c /dev/fuse ]] || fail "there is no /dev/fuse: load the kernel module fuse, or give the container the device."

options=()
[[ -z $size ]] || options=(-o "size=$size")
# It goes to the background by itself once the mount answers, and says in one line why it could not.
"$bin/mount.mooncake" "$dir" "${options[@]}" || fail "mount.mooncake failed; its reason is above."
for ((i = 0; i < 100; i++)); do
  if [[ -n $(mounted) && $(answers) == yes ]]; then
    next_steps
    exit 0
  fi
  sleep 0.1
done
fail "the mount at $dir does not answer; look at the log of mount.mooncake, then umount -l $dir"
