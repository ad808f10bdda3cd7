//===- CheckUninitialized.cpp - Finds values that nobody wrote ---*- C++
//-*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Lanes.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tile_dialect::emulator;

void UninitializedChecker::startBlock(Block &block) {
  shared[&block].assign(block.shared.size(), 0);
  for (auto &warp : block.warps)
    local.erase(warp.get());
}

void UninitializedChecker::startFrame(Warp &, Frame &frame) {
  registers[&frame].assign(frame.code->frameBytes / 4, 0);
}

LaneMask UninitializedChecker::definedLanes(Warp &warp,
                                            const Operand &operand) {
  if (operand.bank != Operand::Registers)
    return allLanes;
  return registers[warp.frame][operand.offset / 4];
}

void UninitializedChecker::define(Warp &warp, const Operand &operand,
                                  LaneMask lanes, LaneMask mask) {
  if (operand.bank != Operand::Registers)
    return;
  LaneMask &known = registers[warp.frame][operand.offset / 4];
  known = (known & ~mask) | (lanes & mask);
}

void UninitializedChecker::report(Warp &warp, const Inst &inst, LaneMask lanes,
                                  const char *what) {
  if (lanes == 0)
    return;
  context.report(warp.block->cluster->number,
                 warp.makeReport(Report::Kind::Uninitialized, &inst,
                                 llvm::countr_zero(lanes), what));
}

void UninitializedChecker::before(Warp &warp, const Inst &inst, LaneMask mask) {
  if (inst.hasGuard) {
    LaneMask known = registers[warp.frame][inst.guard / 4];
    report(warp, inst, warp.mask & ~known,
           "the predicate of this instruction was never written");
  }
  const Operand *sources = inst.operands + inst.numDestinations;
  unsigned count = inst.numOperands - inst.numDestinations;
  LaneMask result = allLanes;
  switch (inst.definedRule) {
  case DefinedRule::AllSources:
    for (unsigned i = 0; i < count; ++i)
      result &= definedLanes(warp, sources[i]);
    break;
  case DefinedRule::AnySource:
    result = 0;
    for (unsigned i = 0; i < count; ++i)
      if (sources[i].bank == Operand::Registers)
        result |= definedLanes(warp, sources[i]);
    if (llvm::none_of(llvm::ArrayRef(sources, count), [](const Operand &o) {
          return o.bank == Operand::Registers;
        }))
      result = allLanes;
    break;
  case DefinedRule::Select: {
    LaneMask chosen = warp.predicate(sources[2]);
    result = definedLanes(warp, sources[2]) &
             ((definedLanes(warp, sources[0]) & chosen) |
              (definedLanes(warp, sources[1]) & ~chosen));
    break;
  }
  case DefinedRule::Load:
  case DefinedRule::Store:
    // Parameters of device functions have no address operand.
    if (inst.instructionClass != InstructionClass::ParameterAccess && count > 0)
      report(warp, inst, mask & ~definedLanes(warp, sources[0]),
             "the address of this access depends on a value that was never "
             "written");
    break;
  case DefinedRule::Always:
    break;
  case DefinedRule::Group:
  case DefinedRule::Shuffle:
    // Once the lanes are together: exchange().
    return;
  case DefinedRule::Matrix:
    multiply(warp, inst, mask);
    return;
  }
  for (unsigned i = 0; i < inst.numDestinations; ++i)
    define(warp, inst.operands[i], result, mask);
}

LaneMask UninitializedChecker::definedInAll(Warp &warp,
                                            llvm::ArrayRef<Operand> operands) {
  LaneMask known = allLanes;
  for (const Operand &operand : operands)
    known &= definedLanes(warp, operand);
  return known;
}

void UninitializedChecker::exchange(Warp &warp, const Inst &inst,
                                    LaneMask lanes) {
  llvm::ArrayRef<Operand> operands(inst.operands, inst.numOperands);
  auto sources = operands.drop_front(inst.numDestinations);
  LaneMask known = definedInAll(warp, sources);
  LaneMask result = (known & lanes) == lanes ? allLanes : 0;
  if (inst.definedRule == DefinedRule::Shuffle) {
    LaneMask value = definedLanes(warp, sources[0]);
    result = definedInAll(warp, sources.drop_front());
    const uint32_t *b = warp.source<uint32_t>(sources[1]);
    const uint32_t *c = warp.source<uint32_t>(sources[2]);
    for (unsigned l = 0; l < warpSize; ++l) {
      bool inRange;
      unsigned from = shuffleSource(inst.aux[0], l, b[l], c[l], inRange);
      if (!(value >> from & 1))
        result &= ~(LaneMask(1) << l);
    }
  } else if (inst.definedRule != DefinedRule::Group) {
    return;
  }
  for (const Operand &dest : operands.take_front(inst.numDestinations))
    define(warp, dest, result, lanes);
}

/// A lane holds rows g and g + 8 of D for g = lane / 4: registers of A take
/// turns between the two, those of D change in pairs (packed f16: in turn).
/// Its columns are those of the quads 2 * (lane % 4) and the next in B.
void UninitializedChecker::multiply(Warp &warp, const Inst &inst,
                                    LaneMask mask) {
  unsigned numResults = inst.numDestinations;
  if (numResults == 0)
    return;
  llvm::ArrayRef<Operand> operands(inst.operands, inst.numOperands);
  auto results = operands.take_front(numResults);
  bool isWgmma = inst.matrixSources[1] == 0;
  auto a = operands.slice(numResults, inst.matrixSources[0]);
  auto b = operands.slice(numResults + a.size(), inst.matrixSources[1]);
  // wgmma names its accumulators once.
  auto c =
      isWgmma ? results : operands.drop_front(numResults + a.size() + b.size());
  LaneMask rows[2] = {allLanes, allLanes}, columns = definedInAll(warp, b);
  for (unsigned i = 0; i < a.size(); ++i)
    rows[i % 2] &= definedLanes(warp, a[i]);
  LaneMask known[2] = {0, 0};
  for (unsigned l = 0; l < warpSize; ++l) {
    LaneMask quad = LaneMask(0xF) << (l & ~3u);
    LaneMask pair = LaneMask(0xFF) << (l % 4 * 8);
    for (unsigned half = 0; half < 2; ++half)
      if ((rows[half] & quad) == quad && (columns & pair) == pair)
        known[half] |= LaneMask(1) << l;
  }
  if (isWgmma) {
    // How the halves alternate depends on the type: take both.
    known[0] = known[1] &= known[0];
    // Scale-d is the only predicate; without it C is not read.
    const auto *scale = llvm::find_if(
        operands.drop_front(numResults + a.size()),
        [](const Operand &operand) { return operand.bytes == 0; });
    if (scale != operands.end() && warp.predicate(*scale) == 0)
      c = {};
  }
  bool isPacked = !isWgmma && numResults == 2 && a.size() > 1;
  for (unsigned i = 0; i < numResults; ++i) {
    unsigned half = isPacked ? i % 2 : i / 2 % 2;
    LaneMask old = i < c.size() ? definedLanes(warp, c[i]) : allLanes;
    define(warp, results[i], old & known[half], mask);
  }
}

uint8_t *UninitializedChecker::marks(Warp &warp, const Place &place,
                                     uint32_t bytes, unsigned lane) {
  switch (place.space) {
  case Space::Shared: {
    if (!place.block)
      return nullptr;
    auto &known = shared[place.block];
    return place.address + bytes <= known.size() ? known.data() + place.address
                                                 : nullptr;
  }
  case Space::Local: {
    auto &known = local[&warp].lanes[lane];
    if (place.address + bytes > warp.local[lane].size())
      return nullptr;
    known.resize(warp.local[lane].size());
    return known.data() + place.address;
  }
  case Space::Global: {
    const Allocation *allocation = context.memory.find(place.address);
    if (!allocation || !allocation->initialized)
      return nullptr;
    uint64_t offset = place.address - allocation->base;
    return offset + bytes <= allocation->size
               ? allocation->initialized.get() + offset
               : nullptr;
  }
  default:
    return nullptr;
  }
}

void UninitializedChecker::access(Warp &warp, const Access &access) {
  const Inst &inst = *access.inst;
  bool isLoad = inst.definedRule == DefinedRule::Load;
  unsigned elements = isLoad ? std::max<unsigned>(inst.numDestinations, 1) : 1;
  LaneMask undefinedStores = 0, undefinedParts = 0;
  LaneMask undefinedElements[8] = {};
  for (unsigned l = 0; l < warpSize; ++l) {
    if (!(access.mask >> l & 1))
      continue;
    Place place = placeOf(warp, access.space, access.addresses[l]);
    uint8_t *known = marks(warp, place, access.bytes, l);
    if (isLoad && known) {
      unsigned bytes = access.bytes / elements;
      for (unsigned i = 0; i < access.bytes && i / bytes < 8; ++i)
        if (!known[i] && (!inst.usedBytes || inst.usedBytes >> i & 1))
          undefinedElements[i / bytes] |= LaneMask(1) << l;
    }
    if (access.destination && known &&
        std::count(known, known + access.bytes, 0))
      undefinedParts |= LaneMask(1) << l;
    if (access.kind == AccessKind::Read)
      continue;
    if (!access.values) {
      if (known)
        std::fill(known, known + access.bytes, 1);
      continue;
    }
    for (unsigned e = 0; e * access.elementBytes < access.bytes; ++e) {
      bool defined = definedLanes(warp, access.values[e]) >> l & 1;
      if (known)
        std::fill(known + e * access.elementBytes,
                  known + (e + 1) * access.elementBytes, defined);
      if (!defined && place.space == Space::Global)
        undefinedStores |= LaneMask(1) << l;
    }
  }
  for (unsigned e = 0; isLoad && e < inst.numDestinations && e < 8; ++e)
    define(warp, inst.operands[e], ~undefinedElements[e], access.mask);
  if (access.destination)
    define(warp, *access.destination,
           definedLanes(warp, *access.destination) & ~undefinedParts,
           access.mask);
  report(warp, inst, undefinedStores,
         "what is stored to global memory depends on a value that was never "
         "written");
}

void UninitializedChecker::asyncStart(const AsyncAccess &access) {
  if (!access.writes)
    return;
  auto &known = shared[access.block];
  for (auto [offset, bytes] : access.ranges)
    if (uint64_t(offset) + bytes <= known.size())
      std::fill(known.begin() + offset, known.begin() + offset + bytes, 1);
}
