#!/usr/bin/env bash
# shellcheck disable=SC2317  # The functions are called by way of stage().
# Builds everything and runs every test; may be repeated. On a bare Debian 12, as root, it installs what it needs.
#   tools/test.sh           all: release build, checks, sanitizer builds, every test; ends with ctest's summary
#   tools/test.sh --quick   unit and property tests of the release build only
# Stages before the last one leave their logs in build/stages; the tests stage/… of the last one report them.
set -uo pipefail

cd "$(dirname "$(dirname "$(readlink -f "$0")")")" || exit 1
quick=false
case ${1:-} in
  '') ;;
  --quick) quick=true ;;
  *) sed -n '3,6s/^# //p' "$0" >&2; exit 2 ;;
esac

jobs=$(nproc)
stages=build/stages
rm -rf "$stages"
mkdir -p "$stages"
failed=0
export CTEST_OUTPUT_ON_FAILURE=1

# stage NAME COMMAND…: runs it quietly; its log is shown when it fails, its exit code kept for the last stage.
stage() {
  local name=$1 start=$SECONDS rc=0
  shift
  printf '== %-10s' "$name"
  "$@" >"$stages/$name.log" 2>&1 || rc=$?
  echo "$rc" >"$stages/$name.rc"
  if [[ $rc -eq 0 ]]; then
    echo "ok in $((SECONDS - start)) s"
  else
    echo "FAILED with exit code $rc after $((SECONDS - start)) s; the end of $stages/$name.log:"
    grep -v '^\[[0-9]*/[0-9]*\] ' "$stages/$name.log" | tail -n 100
    failed=1
  fi
  return "$rc"
}

build_release() {
  cmake --preset release && cmake --build --preset release "$@"
}

# ThreadSanitizer's shadow memory and a kernel that randomises many address bits don't agree.
fixed_addresses() {
  if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi
}

sanitized() {
  local preset=$1 target=$2
  cmake --preset "$preset" && cmake --build --preset "$preset" --target "$target" &&
    fixed_addresses ctest --preset "$preset" -j "$jobs"
}

stage setup tools/dev/setup || exit 1

if $quick; then
  stage build build_release --target mc_sanitizer_tests programs || exit 1
  ctest --preset release -j "$jobs" -L '^(unit|property)$'
  exit
fi

# Nothing below makes sense without these two.
stage build build_release || exit 1
stage tidy tools/dev/tidy
stage analyze tools/dev/tidy none --clang
stage asan sanitized asan mc_sanitizer_tests
stage tsan sanitized tsan mc_stress_tests

# Integration tests wait a good part of their time.
ctest --preset release -j "$((jobs + 1))" || failed=1
exit "$failed"
