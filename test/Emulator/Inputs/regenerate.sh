#!/bin/bash
# Compiles the CUDA programs of this folder to PTX. The .ptx files are kept
# beside them, so that only a change of a program needs nvcc (CUDA 13).
set -euo pipefail
cd "$(dirname "$0")"
compile() { # file architecture
  nvcc -ptx -arch="$2" -lineinfo -diag-suppress 20011 "$1.cu" -o "$1.ptx"
  # No paths and no build numbers of one machine.
  sed -i -e '/^\/\/ Cuda compilation/d' -e '/Compiler Build ID/d' \
    -e 's#\(\.file.*"\).*/#\1#' "$1.ptx"
}
compile kernels sm_90
compile print sm_80
compile wmma sm_80
compile heap sm_80
