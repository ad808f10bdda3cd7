#!/bin/bash
# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run_differential.sh BUILD-DIR: runs the isolated kernels of this directory in
# the emulator and on an sm_90 GPU and compares the results.  Needs the CUDA
# driver, cuda.h (CUDA_HOME, default /usr/local/cuda) and Python with NumPy.
set -euo pipefail
build=${1:?usage: run_differential.sh BUILD-DIR}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CXX:-c++}" -std=c++17 -O1 -DON_GPU -I"${CUDA_HOME:-/usr/local/cuda}/include" \
  "$here/Differential.cpp" -ldl -o "$work/on_gpu"
"$build/unittests/EmulatorDifferential" "$here" "$work/emulator.bin"
"$work/on_gpu" "$here" "$work/gpu.bin"
python3 "$here/compare_differential.py" "$work/emulator.bin" "$work/gpu.bin"
