// RUN: tile-opt %s -split-input-file -verify-diagnostics

#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected positive static extents, but found [16, 0]}}
func.func @extent(%a: !tile_gpu.memdesc<16x0xf16, #dense>) {
  return
}

// -----

#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected static shape}}
func.func @dynamic(%a: !tile_gpu.memdesc<16x?xf16, #dense>) {
  return
}

// -----

#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected an integer or floating-point element type, but found '!tile.ptr<f32>'}}
func.func @element(%a: !tile_gpu.memdesc<16x16x!tile.ptr<f32>, #dense>) {
  return
}

// -----

#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected 2 dimensions, as the order of the encoding has, or one more (a ring), but found 1}}
func.func @rank(%a: !tile_gpu.memdesc<16xf16, #dense>) {
  return
}

// -----

#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected the shape of the allocation to contain [16, 16], but found [8, 16]}}
func.func @view(%a: !tile_gpu.memdesc<16x16xf16, #dense, 8x16>) {
  return
}

// -----

#dense = #tile_gpu.shared<order = [0, 1], swizzle = 0>
// expected-error @below {{expected an allocation of less than 2 GiB, but found the shape [65536, 65536]}}
func.func @size(%a: !tile_gpu.memdesc<65536x65536xi8, #dense>) {
  return
}

// -----

#swizzled = #tile_gpu.shared<order = [0, 1], swizzle = 128>
// expected-error @below {{expected the contiguous dimension to be a multiple of the 128-byte swizzle, but found 64 bytes}}
func.func @swizzle(%a: !tile_gpu.memdesc<16x32xf16, #swizzled>) {
  return
}

// -----

#swizzled = #tile_gpu.shared<order = [1, 0], swizzle = 128>
// expected-error @below {{expected the contiguous dimension to be a multiple of the 128-byte swizzle, but found 32 bytes}}
func.func @swizzle_of_first_dimension(%a: !tile_gpu.memdesc<16x64xf16, #swizzled>) {
  return
}

// -----

#swizzled = #tile_gpu.shared<order = [0, 1], swizzle = 128>
// expected-error @below {{expected the tiles of a ring to be multiples of 1024 bytes, but found 512 bytes}}
func.func @ring(%a: !tile_gpu.memdesc<3x4x64xf16, #swizzled>) {
  return
}

// -----

// expected-error @below {{invalid kind of attribute specified}}
func.func @encoding(%a: !tile_gpu.memdesc<16x16xf16, 5>) {
  return
}
