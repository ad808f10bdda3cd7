#!/bin/bash
# Part of the TileDialect project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the kernels of this directory in the emulator and on an sm_90 GPU and compares the results.
#
#   run_differential.sh BUILD-DIR                all of it, where both are
#   run_differential.sh --emulator BUILD-DIR OUT.bin
#   run_differential.sh --build-gpu PROGRAM      compiles the GPU's runner; needs cuda.h
#   run_differential.sh --gpu OUT.bin [PROGRAM]  needs the driver; compiles PROGRAM if none is given
#   run_differential.sh --compare EMULATOR.bin GPU.bin [--markdown]
#
# BUILD-DIR has the target EmulatorDifferential. cuda.h is looked for in CUDA_HOME (default
# /usr/local/cuda). PROGRAM links libstdc++ statically and opens libcuda.so.1 at run time, so that
# it can be carried, with this directory, to a machine that has only the driver and Python.
# --compare needs NumPy (PYTHON, default python3).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
usage="usage: see the head of $0"

build_gpu() {
  "${CXX:-c++}" -std=c++17 -O1 -DON_GPU -static-libstdc++ -static-libgcc \
    -I"${CUDA_HOME:-/usr/local/cuda}/include" "$here/Differential.cpp" \
    "$here/DifferentialDevice.cpp" "$here/DifferentialPrograms.cpp" "$here/DifferentialSparse.cpp" -ldl -o "$1"
}
generate() { "$python" "$here/generate_scalar_ptx.py" "$work/scalar"; }
# Runs PROGRAM's parts, each in a process of its own, again without the kernels that a GPU stopped.
run_parts() {
  : >"$2"
  for part in scalar programs mma sparse async wgmma tma assert; do
    rm -f "$work/part.bin.failed"
    : >"$work/part.bin"
    status=3
    while [ "$status" = 3 ]; do
      status=0
      timeout "${TIME_LIMIT:-300}" "$1" "$here" "$work/scalar" "$work/part.bin" "$part" || status=$?
    done
    [ "$status" = 0 ] || echo "$part: exit status $status" >&2
    cat "$work/part.bin" >>"$2"
  done
}
compare() { "$python" "$here/compare_differential.py" --scalar="$work/scalar" "$@"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case ${1:?$usage} in
--emulator)
  generate
  run_parts "${2:?$usage}/unittests/EmulatorDifferential" "${3:?$usage}"
  ;;
--build-gpu)
  build_gpu "${2:?$usage}"
  ;;
--gpu)
  program=${3:-}
  if [ -z "$program" ]; then
    program=$work/on_gpu
    build_gpu "$program"
  fi
  generate
  run_parts "$program" "${2:?$usage}"
  ;;
--compare)
  shift
  generate
  compare "$@"
  ;;
-*)
  echo "$usage" >&2
  exit 2
  ;;
*)
  generate
  build_gpu "$work/on_gpu"
  run_parts "$1/unittests/EmulatorDifferential" "$work/emulator.bin"
  run_parts "$work/on_gpu" "$work/gpu.bin"
  compare "$work/emulator.bin" "$work/gpu.bin"
  ;;
esac
