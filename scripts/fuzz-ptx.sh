#!/bin/bash
# Feeds the emulator's PTX front end with mutated modules for a while (default:
# 60 seconds) and fails if it crashes.
# usage: scripts/fuzz-ptx.sh [SECONDS]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=${1:-60}
work=${TILE_FUZZ_DIR:-$root/build/fuzz}
clang=${CXX:-clang++-22}
llvm=$(llvm-config-22 --includedir 2>/dev/null || echo /usr/lib/llvm-22/include)
mkdir -p "$work/corpus" "$work/objects"
flags=(-std=c++17 -O1 -g1 -fno-strict-aliasing
       -fsanitize=fuzzer-no-link,address,undefined
       -fno-sanitize=vptr,function,alignment -fno-sanitize-recover=undefined
       -Wno-pass-failed
       -I"$root/include" -I"$root/lib/Emulator" -isystem "$llvm")
export flags_text="${flags[*]}" clang work
# The newest header: objects that are older are built again.
newest=$(ls -t "$root"/lib/Emulator/*.h "$root"/include/TileDialect/Emulator/*.h | head -1)
export newest
build() {
  object=$work/objects/$(basename "$1" .cpp).o
  [ "$object" -nt "$1" ] && [ "$object" -nt "$newest" ] ||
    $clang $flags_text -c "$1" -o "$object"
}
export -f build
printf '%s\n' "$root"/lib/Emulator/*.cpp "$root"/unittests/Emulator/PtxFuzzer.cpp |
  xargs -P "$(nproc)" -I{} bash -c 'build {}'
"$clang" -fsanitize=fuzzer,address,undefined -fno-sanitize=vptr,function \
  "$work"/objects/*.o -L"${llvm%/include}/lib" -lLLVM-22 -lpthread \
  -o "$work/ptx-fuzzer"
cp "$root"/test/Emulator/Inputs/*.ptx "$work/corpus/"
cd "$work"
./ptx-fuzzer -max_total_time="$seconds" -max_len=20000 -timeout=20 \
  -rss_limit_mb=4096 -print_final_stats=1 \
  -dict="$root/test/Emulator/Inputs/ptx.dict" corpus
