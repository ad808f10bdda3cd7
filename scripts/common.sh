# Sourced by the other scripts: where things are, and how to say things.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${TILE_BUILD_DIR:-$ROOT/build}
VENV=$ROOT/.venv
LLVM=/usr/lib/llvm-22

# Checkouts and build folders share objects: ccache takes paths below the root as
# relative ones.
export CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1

say() { printf '== %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The Python that has NumPy: setup.sh made it.
python() { "$VENV/bin/python3" "$@"; }

# Prints the path of ptxas, or nothing.
find_ptxas() {
  local candidate
  for candidate in "$(command -v ptxas || true)" /usr/local/cuda/bin/ptxas \
    "$VENV"/lib/python3*/site-packages/nvidia/*/bin/ptxas; do
    if [ -x "$candidate" ]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
}
