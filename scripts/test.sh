#!/usr/bin/env bash
# Sets up, builds and runs every test: formatting, lit (IR, tools, kernels in the
# emulator, PTX through ptxas), GoogleTest and, where there are any, the Python
# tests. Closes with one line over all of them: `N passed, N failed`. Arguments go
# to CMake.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

bash "$ROOT/scripts/setup.sh"
bash "$ROOT/scripts/build.sh" "$@"

results=$BUILD/test-results
rm -rf "$results"
mkdir -p "$results"
# Runners report failures through their result files; one that crashes or hangs
# leaves no file, which tally.py counts as a failure.
status=0
limit="timeout --kill-after=10 45m"

say "formatting"
bash "$ROOT/scripts/format.sh" --check --xml "$results/format.xml" || status=1

say "lit"
$limit "$LLVM/bin/lit" -s --xunit-xml-output "$results/lit.xml" "$BUILD/test" || status=1

say "GoogleTest"
$limit "$LLVM/bin/lit" -s --xunit-xml-output "$results/unittests.xml" "$BUILD/unittests" || status=1

expected=(format lit unittests)
if compgen -G "$ROOT/python-bindings/tests/test_*.py" >/dev/null; then
  say "pytest"
  $limit "$VENV/bin/python3" -m pytest -q --junit-xml="$results/pytest.xml" "$ROOT/python-bindings/tests" || status=1
  expected+=(pytest)
fi

python3 "$ROOT/scripts/tally.py" --status "$status" "$results" "${expected[@]}"
