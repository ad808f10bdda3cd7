//===- TileGPUAttributes.td - Attributes of tile_gpu -------*- tablegen -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUATTRIBUTES_TD
#define TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUATTRIBUTES_TD

include "TileDialect/Dialect/TileGPU/IR/TileGPUDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class TileGPU_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<TileGPU_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def TileGPU_LayoutAttr : TileGPU_Attr<"Layout", "layout", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let summary = "which element each register of each thread holds";
  let description = [{
    A linear map over GF(2) from the bits of (register, lane, warp, block) to
    tensor coordinates, repeated over the tensor. Bit *i* of a hardware index
    contributes its basis vector:

    ```
    element(register, lane, warp, block) = XOR of the bases of all set bits
    ```

    The bases span a box of power-of-two extents, the *base tile*. The extents of
    the tensor are any multiples of it. Repetitions, in row-major order, add
    registers:

    ```
    register = repetition * registersPerTile + in-tile register
    element  = repetition * baseTile         + in-tile element   (per dimension)
    ```

    Backwards, `repetition = element / baseTile` and the in-tile element
    determines the bits of the hardware index by solving the linear system. A
    zero basis is a copy: that bit's holders hold the same element.

    The number of basis vectors is the number of bits: five `lane` bases are 32
    lanes. Each vector has a coordinate for each dimension of the tensor; the
    bases of a rank-0 tensor are empty vectors. An empty `block` list is left out.

    Example:

    ```mlir
    // 16 x 32, 4 warps: a thread holds 4 neighbours of a row, 8 lanes a row, a
    // warp 4 rows. Lane 9 = 0b01001 of warp 1 holds in register 2 = 0b10 the
    // element [0,2] ^ [0,4] ^ [1,0] ^ [4,0] = (5, 6).
    #rows = #tile_gpu.layout<{register = [[0, 1], [0, 2]],
      lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]}>
    tensor<16x32xf32, #rows>
    // 12 repetitions of the same base tile: 48 registers.
    tensor<64x96xf32, #rows>
    // A scalar tile: all 128 threads hold it.
    tensor<f32, #tile_gpu.layout<{register = [], lane = [[], [], [], [], []],
                                  warp = [[], []]}>>
    ```
  }];
  let parameters = (ins
    AttrParameter<"const ::tile_dialect::layout::Layout &", "the linear map">:$layout);
  // The uniqued attribute owns the algebra's object, so that reading it costs
  // nothing.
  let genStorageClass = 0;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let genMnemonicAlias = 1;
  let extraClassDeclaration = [{
    /// Number of tensor dimensions.
    unsigned getRank() const { return getLayout().getRank(); }
    /// Lanes of a warp, warps of a block, blocks of a cluster.
    int64_t getNumLanes() const;
    int64_t getNumWarps() const;
    int64_t getNumBlocks() const;
  }];
}

def TileGPU_SharedAttr : TileGPU_Attr<"Shared", "shared"> {
  let summary = "how a tile lies in shared memory";
  let description = [{
    `order` lists the dimensions from the slowest varying to the contiguous one
    (last). `swizzle` is the span in bytes (0, 32, 64 or 128) of the swizzle family
    that TMA, wgmma, ldmatrix and cp.async all read and write without bank
    conflicts.

    Without a swizzle the tile is dense. With one, the contiguous dimension is cut
    into *panels* of `swizzle` bytes, laid out one after the other; a panel holds a
    line of `swizzle` bytes of each row. Within that, the index of each 16-byte
    chunk is XORed with the index of its 128-byte line, modulo the chunks of a
    span:

    ```
    row    = index over the other dimensions, in order
    byte   = element size * index in the contiguous dimension
    linear = (byte / swizzle * rows + row) * swizzle + byte % swizzle
    offset = linear ^ ((linear / 128 % (swizzle / 16)) * 16)
    ```

    The XOR changes only bits below the span and depends only on bits above it,
    so that the same step leads back from `offset` to `linear`. At 128 bytes it is
    `chunk ^ (row mod 8)`.

    Example: in `#tile_gpu.shared<order = [0, 1], swizzle = 128>` element (3, 80)
    of a 64 x 128 tile of f16 has row 3 and byte 160, so linear 8192 + 384 + 32 =
    8608 and offset 8608 ^ (67 % 8 * 16) = 8592.
  }];
  let parameters = (ins ArrayRefParameter<"int32_t">:$order, "unsigned":$swizzle);
  let assemblyFormat = "`<` `order` `=` `[` $order `]` `,` `swizzle` `=` $swizzle `>`";
  let genVerifyDecl = 1;
  let genMnemonicAlias = 1;
  let extraClassDeclaration = [{
    /// Bytes over which the swizzle pattern repeats, and to which an allocation
    /// is aligned: 8 lines of the span (16 without a swizzle).
    int64_t getAlignment() const { return getSwizzle() ? 8 * getSwizzle() : 16; }
    /// The order after dimension i of the result became dimension `perm[i]` of
    /// the source.
    SharedAttr transpose(ArrayRef<int32_t> perm) const;
  }];
}

def TileGPU_ScratchAttr : TileGPU_Attr<"Scratch", "scratch"> {
  let summary = "the shared memory that an op uses while it runs";
  let description = [{
    `bytes` bytes at byte `offset` of the kernel's shared memory belong to the op
    while it runs.

    Example: `tile_gpu.scratch = #tile_gpu.scratch<offset = 1024, bytes = 512>`
  }];
  let parameters = (ins "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` `offset` `=` $offset `,` `bytes` `=` $bytes `>`";
  let genVerifyDecl = 1;
}

#endif // TILEDIALECT_DIALECT_TILEGPU_IR_TILEGPUATTRIBUTES_TD
