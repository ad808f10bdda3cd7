// Metadata of a kernel that goes through the pipeline names the source's types
// and promises.

// RUN: tile-translate %examples/vector_add.mlir --num-warps=8 --metadata=%t.json -o %t.ptx
// RUN: FileCheck %s < %t.json

// CHECK: "chip": "sm_80"
// CHECK: "block_size": [
// CHECK-NEXT: 256,
// CHECK: "name": "vector_add"
// CHECK-NEXT: "num_warps": 8
// CHECK: "divisibility": 16,
// CHECK: "source_index": 0,
// CHECK-NEXT: "source_type": "!tile.ptr<f32>",
// CHECK-NEXT: "type": "ptr"
// CHECK: "divisibility": 16,
// CHECK: "source_index": 3,
// CHECK-NEXT: "source_type": "i32",
// CHECK-NEXT: "type": "i32"
