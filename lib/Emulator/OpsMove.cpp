//===- OpsMove.cpp - mov, address conversion and hints ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include <chrono>

using namespace tile_dialect::emulator;

namespace {

struct Wide128 {
  uint64_t low, high;
};

struct Copy {
  template <typename T> static T apply(T a) { return a; }
};

Step movPredicate(Warp &warp, const Inst &inst, LaneMask mask) {
  warp.setPredicate(inst.operands[0], warp.predicate(inst.operands[1]), mask);
  return Step::Next;
}

/// {a, b, …} into one register: sources of aux[0] bytes, the first lowest.
Step packLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  unsigned element = inst.aux[0];
  const Operand &dest = inst.operands[0];
  auto *d = warp.dest<uint8_t>(dest);
  unsigned count = inst.numOperands - 1;
  eachLane(mask, [&](unsigned l) {
    uint8_t bytes[16] = {};
    for (unsigned i = 0; i < count; ++i) {
      const Operand &op = inst.operands[1 + i];
      std::memcpy(bytes + i * element, warp.source<uint8_t>(op) + l * op.bytes,
                  element);
    }
    std::memcpy(d + l * dest.bytes, bytes, dest.bytes);
  });
  return Step::Next;
}

/// One register into {a, b, …}.
Step unpackLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  unsigned element = inst.aux[0];
  const Operand &source = inst.operands[inst.numDestinations];
  eachLane(mask, [&](unsigned l) {
    uint8_t bytes[16] = {};
    std::memcpy(bytes, warp.source<uint8_t>(source) + l * source.bytes,
                source.bytes);
    for (unsigned i = 0; i < inst.numDestinations; ++i) {
      const Operand &op = inst.operands[i];
      uint8_t wide[16] = {};
      std::memcpy(wide, bytes + i * element, element);
      std::memcpy(warp.dest<uint8_t>(op) + l * op.bytes, wide, op.bytes);
    }
  });
  return Step::Next;
}

struct AddWindow {
  static uint64_t apply(uint64_t a, uint64_t b) { return a + b; }
};

/// Whether an address lies in a constant variable that this kernel names.
bool isConstant(const Warp &warp, uint64_t address) {
  const LaunchContext &context = *warp.context;
  for (const Image::Relocation &use : context.image.relocations) {
    const Variable &variable = context.image.module->variables[use.variable];
    uint64_t begin = context.constants[use.constantOffset / 8] - use.addend;
    if (variable.space == Space::Const && address - begin < variable.bytes)
      return true;
  }
  return false;
}

Step isSpace(Warp &warp, const Inst &inst, LaneMask mask) {
  const uint64_t *a = warp.source<uint64_t>(inst.operands[1]);
  LaneMask result = 0;
  auto space = Space(inst.aux[0]);
  for (unsigned l = 0; l < warpSize; ++l) {
    uint64_t window = a[l] & ~(windowBytes - 1);
    bool is = false;
    switch (space) {
    case Space::Shared:
      is = window == sharedWindow &&
           (uint32_t(a[l]) >> sharedRankShift == 0 ||
            uint32_t(a[l]) >> sharedRankShift == warp.block->rank + 1);
      break;
    case Space::SharedCluster:
      is = window == sharedWindow;
      break;
    case Space::Local:
      is = window == localWindow;
      break;
    case Space::Param:
      is = window == paramWindow;
      break;
    case Space::Global:
      // As on sm_90, parameters of a kernel have global addresses, too.
      is = window != sharedWindow && window != localWindow &&
           !isConstant(warp, a[l]);
      break;
    case Space::Const:
      is = isConstant(warp, a[l]);
      break;
    default:
      break;
    }
    result |= LaneMask(is) << l;
  }
  warp.setPredicate(inst.operands[0], result, mask);
  return Step::Next;
}

/// The address of the same place in the shared memory of block `b` of the
/// cluster; for generic addresses the window is kept.
template <typename T>
Step mapaLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  T *d = warp.dest<T>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  const uint32_t *b = warp.source<uint32_t>(inst.operands[2]);
  Step step = Step::Next;
  eachLane(mask, [&](unsigned l) {
    if (b[l] >= warp.block->cluster->numBlocks && step == Step::Next)
      step = warp.error(Report::Kind::InvalidOperation, inst, l,
                        "mapa names block " + llvm::Twine(b[l]) +
                            " of a cluster of " +
                            llvm::Twine(warp.block->cluster->numBlocks));
    constexpr uint32_t offsetMask = (1u << sharedRankShift) - 1;
    d[l] = (a[l] & ~T(0xFFFFFFFFu)) | ((b[l] + 1) << sharedRankShift) |
           (uint32_t(a[l]) & offsetMask);
  });
  return step;
}

template <typename T>
Step ctaRankLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  uint32_t *d = warp.dest<uint32_t>(inst.operands[0]);
  const T *a = warp.source<T>(inst.operands[1]);
  forLanes(mask, [&](unsigned l) {
    uint32_t rank = uint32_t(a[l]) >> sharedRankShift;
    d[l] = rank ? rank - 1 : warp.block->rank;
  });
  return Step::Next;
}

Step nothing(Warp &, const Inst &, LaneMask) { return Step::Next; }

} // namespace

Step tile_dialect::emulator::readDynamicSpecial(Warp &warp, const Inst &inst,
                                                LaneMask mask) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  uint64_t nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  uint64_t value = nanoseconds;
  switch (DynamicSpecial(inst.aux[0])) {
  case DynamicSpecial::ClockHi:
  case DynamicSpecial::GlobalTimerHi:
    value >>= 32;
    break;
  default:
    break;
  }
  eachLane(mask, [&](unsigned l) { warp.setLane(inst.operands[0], l, value); });
  return Step::Next;
}

static bool decodeVectorMov(InstDecoder &d, Type type) {
  const OperandSyntax &dest = d.statement.operands[0];
  const OperandSyntax &source = d.statement.operands[1];
  bool packs = source.kind == OperandSyntax::Kind::Vector;
  const OperandSyntax &vector = packs ? source : dest;
  const OperandSyntax &scalar = packs ? dest : source;
  if (scalar.kind == OperandSyntax::Kind::Vector)
    return d.fail("one operand of mov must be a single register");
  unsigned count = vector.children.size();
  if (count != 2 && count != 4 && count != 8)
    return d.fail("expected two, four or eight elements");
  unsigned bits = bitWidth(type) / count;
  Type element = bits == 8    ? Type::B8
                 : bits == 16 ? Type::B16
                 : bits == 32 ? Type::B32
                 : bits == 64 ? Type::B64
                              : Type::None;
  if (element == Type::None)
    return d.finish(nullptr);
  d.inst.aux[0] = bits / 8;
  if (packs) {
    if (!d.addDest(scalar, type))
      return false;
    for (const OperandSyntax &child : vector.children)
      if (!d.addSource(child, element))
        return false;
    return d.finish(packLanes);
  }
  for (const OperandSyntax &child : vector.children)
    if (!d.addDest(child, element))
      return false;
  return d.addSource(scalar, type) && d.finish(unpackLanes);
}

/// mov.v4.u32 {a, b, c, d}, %tid: the three components and zero.
static Step moveComponents(Warp &warp, const Inst &inst, LaneMask mask) {
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t *d = warp.dest<uint32_t>(inst.operands[i]);
    const uint32_t *s = warp.source<uint32_t>(inst.operands[4 + i]);
    forLanes(mask, [=](unsigned l) { d[l] = s[l]; });
  }
  return Step::Next;
}

static bool decodeComponents(InstDecoder &d) {
  const OperandSyntax &special = d.statement.operands[1];
  if (!d.needOperands(2) || d.needType() != Type::U32 ||
      special.kind != OperandSyntax::Kind::Name)
    return d.fail("expected mov.v4.u32 and a special register of that type");
  const auto &elements = d.statement.operands[0].children;
  if (elements.size() != 4)
    return d.fail("expected 4 registers, found " +
                  llvm::Twine(elements.size()));
  for (const OperandSyntax &element : elements)
    if (!d.addDest(element, Type::B32))
      return false;
  for (const char *suffix : {".x", ".y", ".z"}) {
    Special component;
    Type type;
    if (!findSpecial(special.name.str() + suffix, component, type))
      return d.fail("'" + special.name +
                    "' is not a special register of type .v4");
    Operand operand;
    operand.bank = Operand::Specials;
    operand.offset = specialOffset(component);
    operand.bytes = 4;
    d.operands.push_back(operand);
  }
  return d.addConstant(Type::B32, 0) && d.finish(moveComponents);
}

static bool decodeMov(InstDecoder &d) {
  if (d.take("v4"))
    return decodeComponents(d);
  Type type = d.needType();
  if (d.failed() || !d.needOperands(2))
    return false;
  if (d.statement.operands[0].kind == OperandSyntax::Kind::Vector ||
      d.statement.operands[1].kind == OperandSyntax::Kind::Vector)
    return decodeVectorMov(d, type);
  if (!d.addDest(0, type) || !d.addSource(1, type))
    return false;
  switch (bitWidth(type)) {
  case 1:
    return d.finish(type == Type::Pred ? movPredicate : nullptr);
  case 16:
    return d.finish(unaryLanes<Copy, uint16_t, uint16_t>);
  case 32:
    return d.finish(unaryLanes<Copy, uint32_t, uint32_t>);
  case 64:
    return d.finish(unaryLanes<Copy, uint64_t, uint64_t>);
  case 128:
    return d.finish(unaryLanes<Copy, Wide128, Wide128>);
  default:
    return d.finish(nullptr);
  }
}

static bool takeSpace(InstDecoder &d, Space &space) {
  int index = d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster",
                           "local", "const", "param", "param::entry"});
  static const Space spaces[] = {
      Space::Global, Space::Shared, Space::Shared, Space::SharedCluster,
      Space::Local,  Space::Const,  Space::Param,  Space::Param};
  if (index < 0)
    return d.fail("expected a state space");
  space = spaces[index];
  return true;
}

static uint64_t windowOf(Space space) {
  switch (space) {
  case Space::Shared:
  case Space::SharedCluster:
    return sharedWindow;
  case Space::Local:
    return localWindow;
  case Space::Param:
    return paramWindow;
  default:
    return 0;
  }
}

static bool decodeCvta(InstDecoder &d) {
  bool to = d.take("to");
  Space space;
  if (!takeSpace(d, space))
    return false;
  if (!d.take("u64"))
    return d.fail("cvta needs .u64");
  if (!d.needOperands(2) || !d.addDest(0, Type::U64) ||
      !d.addSource(1, Type::U64))
    return false;
  uint64_t window = windowOf(space);
  d.addConstant(Type::U64, to ? -window : window);
  return d.finish(binaryLanes<AddWindow, uint64_t, uint64_t>);
}

static bool decodeIsspacep(InstDecoder &d) {
  Space space;
  if (!takeSpace(d, space) || !d.needOperands(2) || !d.addDest(0, Type::Pred) ||
      !d.addSource(1, Type::U64))
    return false;
  d.inst.aux[0] = uint32_t(space);
  return d.finish(isSpace);
}

static bool decodeMapa(InstDecoder &d) {
  d.take("shared::cluster");
  Type type = d.needType();
  if (!d.needOperands(3) || !d.addDest(0, type) || !d.addSource(1, type) ||
      !d.addSource(2, Type::U32))
    return false;
  return d.finish(type == Type::U32   ? mapaLanes<uint32_t>
                  : type == Type::U64 ? mapaLanes<uint64_t>
                                      : nullptr);
}

static bool decodeGetctarank(InstDecoder &d) {
  d.take("shared::cluster");
  Type type = d.needType();
  if (!d.needOperands(2) || !d.addDest(0, Type::U32) || !d.addSource(1, type))
    return false;
  return d.finish(type == Type::U32   ? ctaRankLanes<uint32_t>
                  : type == Type::U64 ? ctaRankLanes<uint64_t>
                                      : nullptr);
}

/// createpolicy gives an opaque value that only hints take.
static bool decodeCreatepolicy(InstDecoder &d) {
  if (d.takeOneOf({"fractional", "range"}) < 0 && !d.take("cvt"))
    return d.fail("expected .fractional, .range or .cvt");
  d.take("global");
  d.take("L2");
  while (!d.takePrefixed("L2::").empty())
    ;
  if (!d.take("b64"))
    return d.fail("createpolicy needs .b64");
  if (!d.needOperands(1, 5) || !d.addDest(0, Type::B64))
    return false;
  d.addConstant(Type::B64, 0);
  return d.finish(unaryLanes<Copy, uint64_t, uint64_t>);
}

/// Hints that change no value.
static bool decodeHint(InstDecoder &d) {
  d.takeOneOf({"global", "local"});
  d.take("tensormap");
  d.takeOneOf({"const", "param"});
  while (!d.takePrefixed("L1").empty() || !d.takePrefixed("L2").empty())
    ;
  for (const OperandSyntax &operand : d.statement.operands) {
    AddressOperand address;
    if (operand.kind == OperandSyntax::Kind::Address &&
        !d.resolveAddress(operand, address))
      return false;
  }
  return d.finish(nothing);
}

void tile_dialect::emulator::registerMoveOps(OpcodeTable &table) {
  constexpr auto move = InstructionClass::Move;
  table.add("mov", decodeMov, move);
  table.add("cvta", decodeCvta, move);
  table.add("isspacep", decodeIsspacep, move);
  table.add("mapa", decodeMapa, move);
  table.add("getctarank", decodeGetctarank, move);
  table.add("createpolicy", decodeCreatepolicy, move);
  table.add("prefetch", decodeHint, InstructionClass::Other);
  table.add("prefetchu", decodeHint, InstructionClass::Other);
  table.add("discard", decodeHint, InstructionClass::Other);
  table.add("applypriority", decodeHint, InstructionClass::Other);
}
