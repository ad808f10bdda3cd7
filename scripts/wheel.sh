#!/usr/bin/env bash
# Builds wheels of the Python package, checks their size and dependencies, installs
# each in a fresh environment and runs a kernel there. Arguments are Pythons to
# serve, by default the one of .venv: from 3.12 on one wheel serves all. The wheels
# and the sdist are in dist/ afterwards.
#
#   bash scripts/wheel.sh python3.11 python3.12 python3.13
#
# The builds share their objects with build/ through ccache: see common.sh.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# -gt 0 ] || set -- "$VENV/bin/python3"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dist=$ROOT/dist
mkdir -p "$dist"
rm -f "$dist"/tile-*

# As installed programs see it: nothing of the checkout, the user's cache or CUDA.
clean() { (cd "$work" && env -i PATH=/usr/bin:/bin HOME="$work" "$@"); }

# Builds a wheel for a Python, in a folder that a second call can use again.
build_wheel() {
  "$1" -m venv "$work/build"
  "$work/build/bin/pip" wheel -q "$ROOT" --no-deps -w "$dist" --config-settings "build-dir=$ROOT/build-{wheel_tag}"
  rm -rf "$work/build"
}

test_wheel() {
  local python=$work/venv/bin/python package
  package=$(clean "$python" -c 'import tile; print(tile.__path__[0])')
  python3 "$ROOT/scripts/check_package.py" "$package"
  clean "$python" -c 'import sys, tile; assert "numpy" not in sys.modules'
  cat >"$work/twice.py" <<'KERNEL'
import tile
import tile.language as tl

@tile.jit
def twice(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) * 2)
KERNEL
  clean "$python" -m tile compile "$work/twice.py:twice" --signature '*fp32, 64' -o "$work/out"
  "$python" -m pip install -q --disable-pip-version-check numpy
  clean "$python" "$ROOT/examples/vector_add.py"
}

say "sdist"
"$VENV/bin/python3" -m venv "$work/sdist"
"$work/sdist/bin/pip" install -q --disable-pip-version-check build
"$work/sdist/bin/python" -m build --sdist -o "$dist" "$ROOT" >"$work/sdist.log" 2>&1

for interpreter in "$@"; do
  rm -rf "$work/venv"
  "$interpreter" -m venv "$work/venv"
  install=("$work/venv/bin/pip" install -q --disable-pip-version-check --no-index --find-links "$dist"
    --only-binary :all: tile)
  if ! "${install[@]}" 2>/dev/null; then
    say "building the wheel for $("$interpreter" --version)"
    build_wheel "$interpreter"
    "${install[@]}"
  fi
  say "testing with $("$interpreter" --version)"
  test_wheel
done
ls -l "$dist"
