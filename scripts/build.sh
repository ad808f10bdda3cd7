#!/usr/bin/env bash
# Configures and builds in build/. Arguments go to CMake, for example
# -DTILE_DIALECT_WERROR=ON. TILE_BUILD_DIR names another build folder.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

say "building in $BUILD"
# A build folder of another checkout, or of a moved one, cannot be used again.
if [ -e "$BUILD/CMakeCache.txt" ] &&
  ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$ROOT" "$BUILD/CMakeCache.txt"; then
  rm -rf "$BUILD/CMakeCache.txt" "$BUILD/CMakeFiles"
fi
cmake -G Ninja -S "$ROOT" -B "$BUILD" -DTILE_DIALECT_PYTHON=ON "$@" >"$BUILD.configure.log" 2>&1 || {
  cat "$BUILD.configure.log" >&2
  die "configuration failed"
}
mkdir -p "$BUILD"
mv "$BUILD.configure.log" "$BUILD/configure.log"
# One line of progress at a time, and the whole output of what fails.
NINJA_STATUS='[%f/%t] ' ninja -C "$BUILD" all unittests
