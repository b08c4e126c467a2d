#!/usr/bin/env bash
# What run.sh makes of commands that fail, of time limits and of interruptions.
set -uo pipefail

run=$(dirname "$(readlink -f "$0")")/run.sh
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch

check() {  # WHAT ACTUAL EXPECTED
  if [[ $2 != "$3" ]]; then
    echo "FAILED: $1: got '$2', expected '$3'"
    failed=1
  fi
}
# Machines of ours: their job folder, which is in their command line, is below our TMPDIR.
machines() { pgrep -fc "qemu-system.*path=$scratch" || true; }

output=$("$run" --timeout 150 -- bash -c 'rdma link | grep -c ACTIVE; echo "a  b" "$1"; exit 7' - "it's" 2>"$scratch/err")
check "status of the command" $? 7
check "output of the command" "$output" $'2\na  b it\'s'

"$run" --timeout 150 --expect 'ran [1-9]' -- echo "ran 0" >/dev/null 2>"$scratch/err"
check "a command that ran nothing" $? 1

"$run" --timeout 2 -- true >/dev/null 2>"$scratch/err"
check "a guest that is not up in time" $? 125
check "its cause" "$(grep -c 'not done within 2 s' "$scratch/err")" 1

for signal in TERM KILL; do
  "$run" --timeout 150 -- sleep 1000 >/dev/null 2>&1 &
  pid=$!
  for ((i = 0; i < 1500 && $(machines) == 0; ++i)); do sleep 0.02; done
  check "a machine to interrupt with $signal" "$([[ $(machines) -gt 0 ]] && echo yes)" yes
  kill -"$signal" $pid
  wait $pid 2>/dev/null
  for ((i = 0; i < 500 && $(machines) > 0; ++i)); do sleep 0.02; done
  check "machines left after $signal" "$(machines)" 0
done
exit $failed
