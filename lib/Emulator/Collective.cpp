//===- Collective.cpp - Helpers of instructions of whole warps ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Collective.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

bool tile_dialect::emulator::takeShape(InstDecoder &d, MatrixShape &shape) {
  for (llvm::StringRef modifier : d.statement.modifiers) {
    llvm::StringRef rest = modifier;
    MatrixShape found;
    if (!rest.consume_front("m") || rest.consumeInteger(10, found.m) ||
        !rest.consume_front("n") || rest.consumeInteger(10, found.n))
      continue;
    // ldmatrix and stmatrix name no k.
    if (!rest.empty() && (!rest.consume_front("k") ||
                          rest.consumeInteger(10, found.k) || !rest.empty()))
      continue;
    shape = found;
    return d.take(modifier);
  }
  return d.fail("'" + d.statement.opcode + "' needs a shape such as .m16n8k16");
}

static llvm::ArrayRef<OperandSyntax> elementsOf(const OperandSyntax &operand) {
  if (operand.kind == OperandSyntax::Kind::Vector)
    return operand.children;
  return operand;
}

static bool checkCount(InstDecoder &d, unsigned index, unsigned count,
                       size_t found) {
  if (found == count)
    return true;
  return d.fail("operand " + Twine(index) + " takes " + Twine(count) +
                " registers here, found " + Twine(found));
}

bool tile_dialect::emulator::addDestVector(InstDecoder &d, unsigned index,
                                           Type type, unsigned count) {
  auto elements = elementsOf(d.statement.operands[index]);
  if (!checkCount(d, index, count, elements.size()))
    return false;
  for (const OperandSyntax &element : elements)
    if (!d.addDest(element, type))
      return false;
  return true;
}

bool tile_dialect::emulator::addSourceVector(InstDecoder &d, unsigned index,
                                             Type type, unsigned count) {
  auto elements = elementsOf(d.statement.operands[index]);
  if (!checkCount(d, index, count, elements.size()))
    return false;
  for (const OperandSyntax &element : elements)
    if (!d.addSource(element, type))
      return false;
  return true;
}

bool tile_dialect::emulator::locateShared(Warp &warp, const Inst &inst,
                                          Space space, uint64_t address,
                                          uint32_t bytes, uint32_t align,
                                          bool write, unsigned lane,
                                          SharedPlace &place) {
  uint64_t local = address;
  if (space == Space::Generic) {
    if ((address & ~(windowBytes - 1)) != sharedWindow) {
      warp.error(Report::Kind::OutOfBounds, inst, lane,
                 "address 0x" + llvm::utohexstr(address, true) +
                     " is not in shared memory");
      return false;
    }
    local -= sharedWindow;
  }
  place.host = warp.resolve(inst, space, address, bytes, write, lane);
  if (!place.host)
    return false;
  uint32_t rank = uint32_t(local) >> sharedRankShift;
  place.offset = uint32_t(local) & ((1u << sharedRankShift) - 1);
  place.block =
      rank == 0 ? warp.block : warp.block->cluster->blocks[rank - 1].get();
  if (place.offset % align == 0)
    return true;
  warp.error(Report::Kind::Misaligned, inst, lane,
             "shared address 0x" + llvm::utohexstr(local, true) +
                 " is not a multiple of " + Twine(align));
  return false;
}
