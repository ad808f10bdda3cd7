//===- MatrixDescriptor.h - Shared-memory operands of wgmma ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A 64-bit matrix descriptor (PTX ISA, "Matrix-descriptor format") names where
// an operand lies.  The operand is seen as chunks of 16 bytes along its
// contiguous dimension.  "outer" counts rows of A (columns of B) if k is
// contiguous ("K-major"), else values of k ("MN-major"); "chunk" counts along
// the contiguous dimension.  With W = 1, 2, 4 or 8 chunks in a row of the
// swizzle, and LBO and SBO the leading and stride byte offsets, the byte offset
// before swizzling is
//   K-major,  no swizzle:  outer % 8 * 16      + outer / 8 * SBO + chunk * LBO
//   K-major,  swizzled:    outer % 8 * 16W     + outer / 8 * SBO + chunk * 16
//   MN-major, no swizzle:  outer % 8 * 16      + outer / 8 * LBO + chunk * SBO
//   MN-major, swizzled:    outer % 8 * 16W     + outer / 8 * SBO
//                          + chunk / W * LBO   + chunk % W * 16
// The swizzle then permutes chunks by the bits of the address itself, shifted
// by the base offset.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_LIB_EMULATOR_MATRIXDESCRIPTOR_H
#define TILEDIALECT_LIB_EMULATOR_MATRIXDESCRIPTOR_H

#include "TileDialect/Emulator/TensorMap.h"
#include <cstdint>

namespace tile_dialect::emulator {

class MatrixDescriptor {
public:
  explicit MatrixDescriptor(uint64_t bits)
      : bits(bits), start(field(0)), leading(field(16)), stride(field(32)),
        baseOffset(bits >> 49 & 7) {
    static constexpr TensorSwizzle modes[] = {
        TensorSwizzle::None, TensorSwizzle::Bytes128, TensorSwizzle::Bytes64,
        TensorSwizzle::Bytes32};
    swizzle = modes[bits >> 62];
    width = swizzle == TensorSwizzle::None ? 1 : 1u << unsigned(swizzle);
  }

  /// What is wrong with the descriptor, or null.
  const char *problem() const {
    constexpr uint64_t unused = (uint64_t(0x1F) << 52) | (uint64_t(1) << 57) |
                                (uint64_t(0xF) << 58) | (uint64_t(3) << 14) |
                                (uint64_t(3) << 30) | (uint64_t(7) << 46);
    if (bits & unused)
      return "a matrix descriptor has bits set that must be zero";
    return nullptr;
  }

  /// The offset in shared memory of 16 bytes.
  uint32_t chunkOffset(bool isTransposed, unsigned outer,
                       unsigned chunk) const {
    uint32_t offset = start + outer % 8 * 16 * width;
    bool isPlain = width == 1;
    if (!isTransposed)
      offset += outer / 8 * stride + chunk * (isPlain ? leading : 16);
    else if (isPlain)
      offset += outer / 8 * leading + chunk * stride;
    else
      offset +=
          outer / 8 * stride + chunk / width * leading + chunk % width * 16;
    if (isPlain)
      return offset;
    // The address bits that select the permutation, relative to the pattern.
    uint32_t shift = baseOffset << 7;
    return offset ^ (swizzleOffset(swizzle, offset - shift) ^ (offset - shift));
  }

private:
  /// A 14-bit field in units of 16 bytes.
  uint32_t field(unsigned position) const {
    return uint32_t(bits >> position & 0x3FFF) << 4;
  }

  uint64_t bits;
  uint32_t start, leading, stride, baseOffset;
  TensorSwizzle swizzle;
  unsigned width;
};

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_LIB_EMULATOR_MATRIXDESCRIPTOR_H
