#!/usr/bin/env bash
# The tour of the README, as it stands there, in namespaces of its own: its ports, /mnt and /var/tmp meet nobody else's.
#   tour_test.sh SOURCE_DIR BIN_DIR
set -euo pipefail

if [[ ${TOUR_INSIDE:-} != yes ]]; then
  # No --kill-child: bash and everything that it started are in the PID namespace and end with it.
  TOUR_INSIDE=yes exec unshare --net --mount --pid --fork --mount-proc "$0" "$@"
fi
source_dir=$1
bin_dir=$2
# Mounts of tests beside this one were copied along, and would live as long as these copies.
awk '$3 ~ /^fuse/ { print $2 }' /proc/self/mounts | xargs -r -n 1 umount --lazy
ip link set lo up
mount -t tmpfs tour /mnt
mount -t tmpfs tour /var/tmp

tour=/var/tmp/tour.sh
awk '/^## A tour/ { wanted = 1 } wanted && /^```$/ { exit } inside { print } wanted && /^```sh$/ { inside = 1 }' \
  "$source_dir/README.md" > "$tour"
[[ $(wc -l < "$tour") -gt 20 ]] || { echo "the README has no tour" >&2; exit 1; }

cd "$bin_dir"
# -m: job numbers, as in the shell of who pastes it.
if ! timeout 100 bash -m -e -u -x "$tour" > /var/tmp/said 2>&1; then
  cat /var/tmp/said
  echo "the tour ended early" >&2
  exit 1
fi
cat /var/tmp/said

# What the README says that one sees.
saw() { grep -q -- "$1" /var/tmp/said || { echo "the tour never said: $1" >&2; exit 1; }; }
saw 'Disk quota exceeded'
saw '5 objects would be removed'
saw '/mnt/research/keep: OK'
[[ $(grep -c '64 MiB' /var/tmp/said) -ge 2 ]] || { echo "the quota is gone after the restart" >&2; exit 1; }
if grep -q '/mnt/research/large: ' <(grep -v 'dd:' /var/tmp/said); then
  echo "something of the refused file stayed" >&2
  exit 1
fi
[[ -z $(ls /mnt/research) ]] || { echo "the mount is still there" >&2; exit 1; }
