#!/usr/bin/env bash
# Runs a command with real verbs on a machine that has no RDMA: in a virtual machine with a stock Debian kernel, two Soft-RoCE
# devices (rxe0 on 10.77.0.1, rxe1 on 10.77.1.1) and the file system of this host, read-only with an overlay that is thrown away.
#   run.sh [--timeout SECONDS] [--expect REGEX] [--] COMMAND [ARGUMENT…]
# Exits with the status of the command; with 1 when its output lacks REGEX (so that tests which ran nothing don't pass); with 125
# when the machine did not come up or did not come to an end, and says why. Kernel: ${XDG_CACHE_HOME:-~/.cache}/mooncake-rdma-vm.
set -euo pipefail

readonly kGuestFailed=125
fail() {
  echo "rdma vm: $*" >&2
  exit $kGuestFailed
}

timeout=600
expect=
while [[ ${1:-} == --* ]]; do
  case $1 in
    --timeout) timeout=$2; shift 2 ;;
    --expect) expect=$2; shift 2 ;;
    --) shift; break ;;
    *) sed -n '4p' "$0" >&2; exit 2 ;;
  esac
done
[[ $# -gt 0 ]] || { sed -n '4p' "$0" >&2; exit 2; }

here=$(dirname "$(readlink -f "$0")")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mooncake-rdma-vm
for tool in qemu-system-x86_64 busybox cpio modprobe depmod rdma flock setpriv timeout; do
  command -v "$tool" >/dev/null || fail "$tool is missing; run tools/dev/setup"
done

mkdir -p "$cache"
(
  flock 9  # several tests may want their first machine at once
  "$here/prepare.sh" "$cache"
) 9>"$cache/lock" || fail "no kernel to boot, see above"
# shellcheck source=/dev/null
source "$cache/kernel.env"  # kernel, initramfs

job=$(mktemp -d)
machine=
finish() {
  if [[ -n $machine ]]; then
    kill "$machine" 2>/dev/null || true
    wait "$machine" 2>/dev/null || true
  fi
  rm -rf "$job"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

{
  printf 'cd %q\n' "$PWD"
  env -0 | while IFS= read -r -d '' variable; do
    if [[ $variable =~ ^(MC_|GTEST_|ASAN_|PATH=|HOME=|LANG=) ]]; then
      printf 'export %q\n' "$variable"
    fi
  done
  printf 'exec'
  printf ' %q' "$@"
  printf '\n'
} >"$job/command"

# The guest ends with this script, even when that is killed: `timeout` gets a signal then, and passes it on.
setpriv --pdeathsig TERM timeout --kill-after=5 "$timeout" qemu-system-x86_64 \
  -accel tcg,thread=multi -cpu max -m 2048 -smp 2 -display none -no-reboot -nodefaults -net none \
  -kernel "$kernel" -initrd "$initramfs" -append 'console=ttyS0 panic=-1 quiet' \
  -serial file:"$job/console" \
  -device virtio-serial-pci -chardev stdio,id=out,signal=off -device virtconsole,chardev=out \
  -virtfs local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap \
  -virtfs local,path="$job",mount_tag=job,security_model=none \
  </dev/null > >(tee "$job/output") 2>"$job/qemu" &
machine=$!
rc=0
wait "$machine" || rc=$?
machine=

explain() {
  tail -n 20 "$job/console" "$job/qemu" 2>/dev/null >&2
  fail "$1"
}
[[ $rc -ne 124 && $rc -ne 137 ]] || explain "not done within $timeout s (reached: $(cat "$job/stage" 2>/dev/null || echo nothing))"
[[ $rc -eq 0 ]] || explain "qemu ended with $rc"
[[ -s $job/stage ]] || explain "the guest never came up"
[[ -s $job/status ]] || explain "the guest did not finish the command (reached: $(cat "$job/stage"))"
status=$(cat "$job/status")
if [[ $status -eq 0 && -n $expect ]] && ! grep -qE -- "$expect" "$job/output"; then
  echo "rdma vm: the command succeeded, but its output lacks '$expect'" >&2
  exit 1
fi
exit "$status"
