// The metadata of a kernel: what a launcher must know.

// RUN: tile-translate %s --metadata=%t.json -o %t.ptx
// RUN: %python -c 'import json, sys; m = json.load(open(sys.argv[1])); k = {x["name"]: x for x in m["kernels"]}; print(m["version"], m["module"], m["chip"], m["ptx_version"]); print(*[json.dumps(k[n], sort_keys=True) for n in sorted(k)], sep="\n")' %t.json | FileCheck %s

// CHECK: 1 m sm_90a 83
// CHECK: "block_size": [128, 1, 1], "cluster_size": [2, 1, 1], "name": "a", "num_warps": 4
// CHECK-SAME: {"divisibility": 16, "offset": 0, "size": 8, "type": "ptr"}
// CHECK-SAME: {"divisibility": 1, "offset": 8, "size": 2, "type": "f16"}
// CHECK-SAME: {"divisibility": 1, "offset": 12, "size": 4, "type": "i32"}
// CHECK-SAME: {"divisibility": 1, "offset": 16, "size": 8, "type": "i64"}
// CHECK-SAME: "shared_bytes": {"dynamic": 0, "static": 256}
// CHECK-SAME: "tma": []
// CHECK: "block_size": [0, 0, 0], "cluster_size": [1, 1, 1], "name": "b", "num_warps": 0
// CHECK-SAME: "shared_bytes": {"dynamic": 65536, "static": 0}
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  llvm.mlir.global internal @buffer() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x i8>
  llvm.func @a(%x: !llvm.ptr<1> {llvm.align = 16 : i64}, %h: f16, %n: i32, %m: i64) attributes {
      nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %buffer = llvm.mlir.addressof @buffer : !llvm.ptr<3>
    llvm.store volatile %n, %buffer : i32, !llvm.ptr<3>
    llvm.return
  }
  llvm.mlir.global external @open() {addr_space = 3 : i32, alignment = 1024 : i64, tile_gpu.shared_bytes = 65536 : i64} : !llvm.array<0 x i8>
  llvm.func @b(%x: i32) attributes {nvvm.kernel} {
    %open = llvm.mlir.addressof @open : !llvm.ptr<3>
    llvm.store volatile %x, %open : i32, !llvm.ptr<3>
    llvm.return
  }
}
