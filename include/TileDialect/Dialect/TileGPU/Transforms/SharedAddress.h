//===- SharedAddress.h - Where elements lie in shared memory ----*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One description serves all that lies in shared memory: the scratch buffers of
// conversions, reductions and gathers, and tiles of type `!tile_gpu.memdesc`. A
// BufferMap gives the byte of an element, at compile time or as code; a
// TileAccess gives the addresses of the registers of one thread, with as much
// as possible of each address folded into a constant.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_SHAREDADDRESS_H
#define TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_SHAREDADDRESS_H

#include "TileDialect/Dialect/TileGPU/Transforms/Distribute.h"
#include <map>

namespace mlir::tile_gpu {

/// The byte offset of each element of a tile in its buffer: a sum of digits of
/// the coordinates, of which XOR terms then move 16-byte chunks.
class BufferMap {
public:
  /// Row-major, `order` listing the dimensions fastest first (if empty: the
  /// last dimension is the fastest). Neighbours are `pitch` bytes apart.
  static BufferMap getRowMajor(ArrayRef<int64_t> shape, int64_t pitch,
                               ArrayRef<unsigned> order = {});
  /// Row-major with the swizzle of a layout conversion.
  static BufferMap
  getSwizzled(ArrayRef<int64_t> shape,
              const tile_dialect::layout::SharedSwizzle &swizzle,
              int64_t elementBytes);
  /// The allocation of which `type` is a view, as `#tile_gpu.shared` says: rows
  /// of the contiguous dimension; where a row is longer than the span of the
  /// swizzle, the tile is cut into panels of columns as wide as the span, one
  /// after the other, as TMA writes and wgmma reads them. The 16-byte chunk in
  /// a panel is XORed with the number of its 128-byte line, so a tile must
  /// begin at a multiple of 8 * span bytes. A ring is tile after tile.
  static BufferMap getShared(MemDescType type);

  /// The byte offset of an element.
  int64_t getOffset(ArrayRef<int64_t> coords) const;
  /// The same as code; coordinates and result are i32.
  Value emitOffset(OpBuilder &builder, Location loc,
                   ArrayRef<Value> coords) const;
  /// The sum of the digits alone, and what the XOR terms make of it.
  Value emitSum(OpBuilder &builder, Location loc, ArrayRef<Value> coords) const;
  Value emitTerms(OpBuilder &builder, Location loc, Value sum) const;

  int64_t getSum(ArrayRef<int64_t> coords) const;
  bool hasTerms() const { return !terms.empty(); }
  /// True if offsets are linear over GF(2): the offset of the XOR of two
  /// coordinates is the XOR of their offsets.
  bool isLinear() const;

private:
  /// ((coordinate >> shift) & mask) * stride; a mask of -1 keeps all bits.
  struct Digit {
    unsigned dim;
    unsigned shift;
    int64_t mask;
    int64_t extent;
    int64_t stride;
  };
  /// Offset ^= ((sum >> from) & mask) << to, with the sum before all terms.
  struct Term {
    unsigned from;
    int64_t mask;
    unsigned to;
  };

  SmallVector<Digit, 4> digits;
  SmallVector<Term, 2> terms;
};

/// The addresses in a buffer of the elements that one thread holds of a tile.
class TileAccess {
public:
  /// `base` is the `!llvm.ptr<3>` to the buffer; the tile lies at the i32
  /// `offsets` in it (none: at the origin).
  TileAccess(OpBuilder &builder, Location loc, DistributionContext &context,
             LayoutAttr layout, ArrayRef<int64_t> shape, const BufferMap &map,
             Value base, ValueRange offsets = {});

  /// The `!llvm.ptr<3>` to the element of register `reg`.
  Value getPtr(int64_t reg);
  /// A power of two that divides the constant offsets of the tile along `dim`;
  /// 1 if the offset is not constant.
  int64_t getOffsetAlignment(unsigned dim) const;

  int64_t getNumRegisters() const { return registerCoords.size(); }
  /// The lowest register that holds the same element.
  int64_t getRepresentative(int64_t reg) const { return representatives[reg]; }

private:
  enum class Mode {
    /// The thread's part of the offset XOR a constant.
    Linear,
    /// The thread's part of the sum plus a constant, then the terms.
    Sum,
    /// Each offset from the coordinates.
    General,
  };
  Value emitRegisterOffset(int64_t reg);
  Value getBasePlus(Value offset);

  OpBuilder &builder;
  Location loc;
  DistributionContext &context;
  RankedTensorType type;
  BufferMap map;
  Value base;
  SmallVector<Value> offsets;
  SmallVector<std::optional<int64_t>> constantOffsets;
  SmallVector<tile_dialect::layout::Coords> registerCoords;
  SmallVector<int64_t> representatives;
  Mode mode = Mode::General;
  /// Linear and Sum: the thread's part. Linear: the bits that it may set.
  Value threadPart;
  int64_t threadBits = 0;
  /// Linear: pointers by the constant that is XORed; Sum: by constant 0.
  std::map<int64_t, Value> pointers;
  SmallVector<SmallVector<Value>> coords;
};

/// Elements that one access of at most 16 bytes may take, given that neighbours
/// along `contiguousDim` are neighbours in the buffer.
int64_t getAccessElements(LayoutAttr layout, ArrayRef<int64_t> shape,
                          unsigned contiguousDim, int64_t elementBytes);

/// Stores the registers of a thread, `vectorElements` consecutive ones at a
/// time, each element once.
void storeRegisters(OpBuilder &builder, Location loc, TileAccess &access,
                    ValueRange registers, int64_t vectorElements);
/// Loads all registers of a thread, of type `scalarType`.
Registers loadRegisters(OpBuilder &builder, Location loc, TileAccess &access,
                        Type scalarType, int64_t vectorElements);

/// The address and the access width with which `registers` of a tile move to or
/// from a memdesc, whose `converted` values are its pointer and view offsets.
void storeToMemDesc(OpBuilder &builder, Location loc,
                    DistributionContext &context, RankedTensorType tileType,
                    ValueRange registers, MemDescType type,
                    ValueRange converted);
Registers loadFromMemDesc(OpBuilder &builder, Location loc,
                          DistributionContext &context,
                          RankedTensorType tileType, Type scalarType,
                          MemDescType type, ValueRange converted);

} // namespace mlir::tile_gpu

#endif // TILEDIALECT_DIALECT_TILEGPU_TRANSFORMS_SHAREDADDRESS_H
