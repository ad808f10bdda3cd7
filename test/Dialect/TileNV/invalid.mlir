// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @scalar(%p: !tile.ptr<f32>) {
  // expected-error @below {{expects a tile of pointers, not '!tile.ptr<f32>'}}
  tile_nv.prefetch %p : !tile.ptr<f32>
  return
}

// -----

func.func @shared(%p: tensor<4x!tile.ptr<f32, 3>>) {
  // expected-error @below {{expects pointers to global memory, not '!tile.ptr<f32, 3>'}}
  tile_nv.prefetch %p : tensor<4x!tile.ptr<f32, 3>>
  return
}

// -----

func.func @mask(%p: tensor<4x!tile.ptr<f32>>, %m: tensor<8xi1>) {
  // expected-error @below {{mask has the shape of the pointer}}
  "tile_nv.prefetch"(%p, %m) : (tensor<4x!tile.ptr<f32>>, tensor<8xi1>) -> ()
  return
}
