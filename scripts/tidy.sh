#!/usr/bin/env bash
# Runs clang-tidy-22 (see .clang-tidy) over the sources that build/ compiles, or
# over those given as arguments. Slow: some seconds a file.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ -e "$BUILD/compile_commands.json" ] || die "build first: bash scripts/build.sh"
cd "$ROOT"
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(find lib tools unittests -name '*.cpp' -type f | sort)
fi
printf '%s\n' "${files[@]}" |
  xargs -P "$(nproc)" -n 1 clang-tidy-22 -p "$BUILD" --quiet --warnings-as-errors='*'
