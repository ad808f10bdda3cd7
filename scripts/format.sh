#!/usr/bin/env bash
# Formats the C++ sources with clang-format-22. With --check it changes nothing,
# names the files that differ and fails if there are any; --xml FILE writes the
# result as JUnit, too.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check=
xml=
while [ $# -gt 0 ]; do
  case $1 in
  --check) check=1 ;;
  --xml)
    xml=$2
    shift
    ;;
  *) die "usage: format.sh [--check [--xml FILE]]" ;;
  esac
  shift
done

cd "$ROOT"
mapfile -t files < <(find include lib tools unittests examples python-bindings/src \
  \( -name '*.h' -o -name '*.cpp' \) -type f | sort)
if [ -z "$check" ]; then
  clang-format-22 -i "${files[@]}"
  exit
fi

differing=()
for file in "${files[@]}"; do
  clang-format-22 --dry-run --Werror "$file" 2>/dev/null || differing+=("$file")
done
[ ${#differing[@]} -eq 0 ] || printf 'not formatted: %s\n' "${differing[@]}"

if [ -n "$xml" ]; then
  {
    echo '<testsuites><testsuite name="format">'
    if [ ${#differing[@]} -eq 0 ]; then
      echo '<testcase name="clang-format"/>'
    else
      echo "<testcase name=\"clang-format\"><failure>${differing[*]}</failure></testcase>"
    fi
    echo '</testsuite></testsuites>'
  } >"$xml"
fi
[ ${#differing[@]} -eq 0 ]
