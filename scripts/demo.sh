#!/usr/bin/env bash
# Sets up, builds, compiles every example, runs it on the GPU if there is one, else
# in the emulator, and prints a table. Takes some minutes on two cores the
# first time, a minute afterwards.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

bash "$ROOT/scripts/setup.sh"
bash "$ROOT/scripts/build.sh"
python "$ROOT/scripts/demo.py" --build "$BUILD"
say "a kernel in Python: examples/vector_add.py"
TILE_BUILD_DIR=$BUILD python "$ROOT/examples/vector_add.py"
