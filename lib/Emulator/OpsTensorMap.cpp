//===- OpsTensorMap.cpp - tensormap.replace and cp_fenceproxy ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Collective.h"
#include "TileDialect/Emulator/TensorMap.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {

constexpr unsigned mapAlign = 64;

/// The host memory of a tensor map that a lane's operand points to; null after
/// an error.
uint8_t *locateMap(Warp &warp, const Inst &inst, const Operand &base,
                   int64_t offset, Space space, bool write, unsigned lane) {
  uint64_t addresses[warpSize] = {};
  addresses[lane] = laneAddress(warp, base, offset, lane);
  if (addresses[lane] % mapAlign != 0) {
    warp.error(Report::Kind::Misaligned, inst, lane,
               "the address of a tensor map, 0x" +
                   llvm::utohexstr(addresses[lane], true) +
                   ", is not a multiple of 64");
    return nullptr;
  }
  if (LLVM_UNLIKELY(warp.monitor != nullptr)) {
    Access access;
    access.inst = &inst;
    access.space = space;
    access.kind = write ? AccessKind::Write : AccessKind::Read;
    access.mask = LaneMask(1) << lane;
    access.bytes = tensorMapBytes;
    access.addresses = addresses;
    if (!warp.observe(access))
      return nullptr;
  }
  warp.wrote |= write;
  return warp.resolve(inst, space, addresses[lane], tensorMapBytes, write,
                      lane);
}

/// aux[0]: the field, aux[1]: the ordinal, aux[2]: the space.
Step replaceLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  for (unsigned l = 0; l < warpSize; ++l) {
    if (!(mask >> l & 1))
      continue;
    uint8_t *map = locateMap(warp, inst, inst.operands[0], inst.immediate,
                             Space(inst.aux[2]), true, l);
    if (!map)
      return Step::Error;
    uint64_t value = warp.lane(inst.operands[1], l);
    if (!replaceTensorMapField(map, TensorMapField(inst.aux[0]), inst.aux[1],
                               value))
      return warp.error(Report::Kind::InvalidOperation, inst, l,
                        "there is no tiled tensor map at this address, or 0x" +
                            llvm::utohexstr(value, true) +
                            " is no value of this field");
  }
  return Step::Next;
}

/// The warp copies a tensor map from its shared memory to global memory.
Step copyMapWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  uint8_t *source = locateMap(warp, inst, inst.operands[1], inst.aux[0],
                              Space::Shared, false, 0);
  uint8_t *dest = source ? locateMap(warp, inst, inst.operands[0],
                                     inst.immediate, Space::Global, true, 0)
                         : nullptr;
  if (!dest)
    return Step::Error;
  std::memcpy(dest, source, tensorMapBytes);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return Step::Next;
}

struct FieldName {
  const char *name;
  TensorMapField field;
  Type type;
  bool hasOrdinal, isConstant;
};
constexpr FieldName fieldNames[] = {
    {"global_address", TensorMapField::GlobalAddress, Type::B64, false, false},
    {"rank", TensorMapField::Rank, Type::B32, false, false},
    {"elemtype", TensorMapField::ElementType, Type::B32, false, true},
    {"interleave_layout", TensorMapField::InterleaveLayout, Type::B32, false,
     true},
    {"swizzle_mode", TensorMapField::SwizzleMode, Type::B32, false, true},
    {"fill_mode", TensorMapField::FillMode, Type::B32, false, true},
    {"box_dim", TensorMapField::BoxDim, Type::B32, true, false},
    {"global_dim", TensorMapField::GlobalDim, Type::B32, true, false},
    {"global_stride", TensorMapField::GlobalStride, Type::B64, true, false},
    {"element_stride", TensorMapField::ElementStride, Type::B32, true, false},
};

} // namespace

/// .tile.FIELD{.ss}.b1024.TYPE [address], {ordinal,} value
static bool decodeReplace(InstDecoder &d) {
  if (!d.take("tile"))
    return d.fail("tensormap.replace needs .tile");
  const FieldName *found = nullptr;
  for (const FieldName &field : fieldNames)
    if (d.take(field.name)) {
      found = &field;
      break;
    }
  if (!found)
    return d.fail("tensormap.replace does not know the field '." +
                  Twine(d.peek()) + "'");
  int space = d.takeOneOf({"global", "shared::cta"});
  if (!d.take("b1024") || d.takeType() != found->type)
    return d.fail("tensormap.replace of ." + Twine(found->name) +
                  " needs .b1024.b" + Twine(bitWidth(found->type)));
  if (!d.needOperands(found->hasOrdinal ? 3 : 2))
    return false;
  d.inst.aux[0] = uint32_t(found->field);
  d.inst.aux[2] = uint32_t(space < 0    ? Space::Generic
                           : space == 0 ? Space::Global
                                        : Space::Shared);
  AddressOperand address;
  int64_t ordinal = 0, constant;
  unsigned value = found->hasOrdinal ? 2 : 1;
  if (found->hasOrdinal) {
    int64_t limit = maximalTensorRank -
                    (found->field == TensorMapField::GlobalStride ? 1 : 0);
    if (!d.constantValue(1, ordinal))
      return false;
    if (ordinal < 0 || ordinal >= limit)
      return d.fail("the ordinal must be 0 to " + Twine(limit - 1) +
                    ", found " + Twine(ordinal));
  }
  d.inst.aux[1] = ordinal;
  if (found->isConstant && !d.constantValue(value, constant))
    return false;
  return d.addAddress(0, address) && d.addSource(value, found->type) &&
         d.finish(replaceLanes);
}

static bool decodeCopyMap(InstDecoder &d) {
  if (!d.take("global") || !d.take("shared::cta") ||
      !d.take("tensormap::generic") || !d.take("release") ||
      d.takeOneOf({"cta", "cluster", "gpu", "sys"}) < 0 || !d.take("sync") ||
      !d.take("aligned"))
    return d.fail("expected tensormap.cp_fenceproxy.global.shared::cta."
                  "tensormap::generic.release, a scope and .sync.aligned");
  AddressOperand dest, source;
  int64_t bytes;
  if (!d.needOperands(3) || !d.addAddress(0, dest))
    return false;
  int64_t offset = d.inst.immediate;
  if (!d.addAddress(1, source) || !d.constantValue(2, bytes))
    return false;
  d.inst.aux[0] = uint32_t(d.inst.immediate);
  d.inst.immediate = offset;
  return bytes == tensorMapBytes
             ? d.finish(copyMapWarp)
             : d.fail("tensormap.cp_fenceproxy copies 128 bytes");
}

static bool decodeTensormap(InstDecoder &d) {
  if (d.take("replace"))
    return decodeReplace(d);
  if (d.take("cp_fenceproxy"))
    return decodeCopyMap(d);
  return d.fail("expected tensormap.replace or tensormap.cp_fenceproxy");
}

void tile_dialect::emulator::registerTensorMapOps(OpcodeTable &table) {
  table.add("tensormap", decodeTensormap, InstructionClass::Other);
}
