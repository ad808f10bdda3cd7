//===- OpsAtomic.cpp - atom and red ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatFormats.h"
#include "Lanes.h"
#include "Monitor.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace tile_dialect::emulator;

namespace {

enum class AtomicOp : uint32_t {
  And,
  Or,
  Xor,
  Exch,
  Add,
  Inc,
  Dec,
  Min,
  Max,
  Cas,
};

struct AtomicInfo {
  Space space = Space::Generic;
  unsigned elements = 1;
  unsigned elementBytes = 4;
  bool returns = true;
  AtomicOp op = AtomicOp::Add;
  MemoryScope scope = MemoryScope::Device;
  MemoryOrder order = MemoryOrder::Relaxed;
  /// Applies the operation to memory and returns the old value; `changed` is
  /// set if memory differs afterwards.
  using Function = void (*)(uint8_t *memory, const uint8_t *value,
                            const uint8_t *compare, uint8_t *old,
                            bool &changed);
  Function apply = nullptr;
  /// What is done in global memory instead, if that differs.
  Function applyGlobal = nullptr;
};

bool isGlobal(Space space, uint64_t address) {
  uint64_t window = address & ~(windowBytes - 1);
  return space == Space::Global ||
         (space == Space::Generic && window != sharedWindow &&
          window != localWindow);
}

template <typename T> T load(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Replaces the value in memory by `f(old)` in one step.
template <typename Word, typename F>
void update(uint8_t *memory, uint8_t *old, bool &changed, F f) {
  auto *word = reinterpret_cast<Word *>(memory);
  Word before = __atomic_load_n(word, __ATOMIC_RELAXED);
  Word after = f(before);
  while (!__atomic_compare_exchange_n(word, &before, after, true,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    after = f(before);
  changed |= before != after;
  std::memcpy(old, &before, sizeof(Word));
}

template <typename T, AtomicOp op> T combine(T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case AtomicOp::And:
    return a & b;
  case AtomicOp::Or:
    return a | b;
  case AtomicOp::Xor:
    return a ^ b;
  case AtomicOp::Exch:
    return b;
  case AtomicOp::Add:
    return T(U(a) + U(b));
  case AtomicOp::Inc:
    return U(a) >= U(b) ? T(0) : T(a + 1);
  case AtomicOp::Dec:
    return a == 0 || U(a) > U(b) ? b : T(a - 1);
  case AtomicOp::Min:
    return a < b ? a : b;
  case AtomicOp::Max:
    return a < b ? b : a;
  case AtomicOp::Cas:
    break;
  }
  return a;
}

template <typename T, AtomicOp op>
void atomicInteger(uint8_t *memory, const uint8_t *value, const uint8_t *,
                   uint8_t *old, bool &changed) {
  T b = load<T>(value);
  update<T>(memory, old, changed, [b](T a) { return combine<T, op>(a, b); });
}

template <typename T>
void atomicCas(uint8_t *memory, const uint8_t *value, const uint8_t *compare,
               uint8_t *old, bool &changed) {
  T expected = load<T>(compare), desired = load<T>(value);
  bool done = __atomic_compare_exchange_n(reinterpret_cast<T *>(memory),
                                          &expected, desired, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  changed |= done;
  std::memcpy(old, &expected, sizeof(T));
}

/// 128 bits: a lock, since not every host has such an instruction.
std::mutex wideLock;

template <bool isCas>
void atomicWide(uint8_t *memory, const uint8_t *value, const uint8_t *compare,
                uint8_t *old, bool &changed) {
  std::lock_guard<std::mutex> guard(wideLock);
  std::memcpy(old, memory, 16);
  if (isCas && std::memcmp(memory, compare, 16) != 0)
    return;
  changed |= std::memcmp(memory, value, 16) != 0;
  std::memcpy(memory, value, 16);
}

template <typename T, typename Word>
void atomicFloatAdd(uint8_t *memory, const uint8_t *value, const uint8_t *,
                    uint8_t *old, bool &changed) {
  T b = load<T>(value);
  update<Word>(memory, old, changed,
               [b](Word a) { return bitsAs<Word>(T(bitsAs<T>(a) + b)); });
}

/// In global memory subnormal operands and results of .f32 become zero (PTX
/// ISA, "atom").
void atomicFlushedAdd(uint8_t *memory, const uint8_t *value, const uint8_t *,
                      uint8_t *old, bool &changed) {
  auto flush = [](float x) {
    return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
  };
  float b = flush(load<float>(value));
  update<uint32_t>(memory, old, changed, [&](uint32_t a) {
    return bitsOfFloat(flush(flush(floatFromBits(a)) + b));
  });
}

template <bool isBfloat> uint16_t halfAdd(uint16_t a, uint16_t b) {
  return isBfloat ? floatToBfloat(bfloatToFloat(a) + bfloatToFloat(b))
                  : floatToHalf(halfToFloat(a) + halfToFloat(b));
}
template <bool isBfloat, bool isMax>
uint16_t halfMinMax(uint16_t a, uint16_t b) {
  float x = isBfloat ? bfloatToFloat(a) : halfToFloat(a);
  float y = isBfloat ? bfloatToFloat(b) : halfToFloat(b);
  if (x != x)
    return b;
  if (y != y)
    return a;
  // -0 is less than +0.
  if (x == y)
    return std::signbit(x) == isMax ? b : a;
  return (x < y) == isMax ? b : a;
}

/// One half, or two in a word of 32 bits.
template <typename Word, uint16_t (*op)(uint16_t, uint16_t)>
void atomicHalf(uint8_t *memory, const uint8_t *value, const uint8_t *,
                uint8_t *old, bool &changed) {
  Word b = load<Word>(value);
  update<Word>(memory, old, changed, [b](Word a) {
    Word low = op(uint16_t(a), uint16_t(b));
    if constexpr (sizeof(Word) == 4)
      low |= Word(op(uint16_t(a >> 16), uint16_t(b >> 16))) << 16;
    return low;
  });
}

/// Operands: [results], address, values, [compare].
Step atomicLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const AtomicInfo *>(inst.extra);
  uint64_t addresses[warpSize];
  const Operand *sources = inst.operands + inst.numDestinations;
  warp.addresses(sources[0], inst.immediate, addresses);
  unsigned bytes = info.elementBytes * info.elements;
  if (LLVM_UNLIKELY(warp.monitor != nullptr)) {
    Access access;
    access.inst = &inst;
    access.space = info.space;
    access.kind = AccessKind::Atomic;
    access.scope = info.scope;
    access.order = info.order;
    access.mask = mask;
    access.bytes = bytes;
    access.elementBytes = info.elementBytes;
    access.addresses = addresses;
    if (!warp.observe(access))
      return Step::Error;
  }
  bool changed = false;
  while (mask) {
    unsigned l = llvm::countr_zero(mask);
    mask &= mask - 1;
    if (addresses[l] & (bytes - 1))
      return warp.error(Report::Kind::Misaligned, inst, l,
                        "atomic access of " + llvm::Twine(bytes) +
                            " bytes at address 0x" +
                            llvm::utohexstr(addresses[l], true));
    uint8_t *host =
        warp.resolve(inst, info.space, addresses[l], bytes, true, l);
    if (!host)
      return Step::Error;
    for (unsigned e = 0; e < info.elements; ++e) {
      uint8_t old[16];
      const Operand &value = sources[1 + e];
      const uint8_t *v = warp.source<uint8_t>(value) + l * value.bytes;
      const uint8_t *c = nullptr;
      if (info.op == AtomicOp::Cas) {
        // atom.cas d, [a], compare, value.
        const Operand &swap = sources[2];
        c = v;
        v = warp.source<uint8_t>(swap) + l * swap.bytes;
      }
      auto apply = info.apply;
      if (info.applyGlobal && isGlobal(info.space, addresses[l]))
        apply = info.applyGlobal;
      apply(host + e * info.elementBytes, v, c, old, changed);
      if (info.returns) {
        const Operand &dest = inst.operands[e];
        std::memcpy(warp.dest<uint8_t>(dest) + l * dest.bytes, old,
                    info.elementBytes);
      }
    }
  }
  if (LLVM_UNLIKELY(warp.monitor != nullptr))
    warp.monitor->strongRead(warp);
  if (changed) {
    warp.wrote = true;
    warp.failedPolls = 0;
    return Step::Next;
  }
  // An atomic that changes nothing may be the poll of a loop that waits.
  return warp.failedPoll();
}

template <AtomicOp op> AtomicInfo::Function pickInteger(Type type) {
  switch (type) {
  case Type::U32:
  case Type::B32:
    return atomicInteger<uint32_t, op>;
  case Type::S32:
    return atomicInteger<int32_t, op>;
  case Type::U64:
  case Type::B64:
    return atomicInteger<uint64_t, op>;
  case Type::S64:
    return atomicInteger<int64_t, op>;
  default:
    return nullptr;
  }
}

AtomicInfo::Function pickAdd(Type type) {
  switch (type) {
  case Type::F32:
    return atomicFloatAdd<float, uint32_t>;
  case Type::F64:
    return atomicFloatAdd<double, uint64_t>;
  case Type::F16:
    return atomicHalf<uint16_t, halfAdd<false>>;
  case Type::F16x2:
    return atomicHalf<uint32_t, halfAdd<false>>;
  case Type::BF16:
    return atomicHalf<uint16_t, halfAdd<true>>;
  case Type::BF16x2:
    return atomicHalf<uint32_t, halfAdd<true>>;
  default:
    return isBitsType(type) ? nullptr : pickInteger<AtomicOp::Add>(type);
  }
}

template <AtomicOp op> AtomicInfo::Function pickMinMax(Type type) {
  constexpr bool isMax = op == AtomicOp::Max;
  switch (type) {
  case Type::F16:
    return atomicHalf<uint16_t, halfMinMax<false, isMax>>;
  case Type::F16x2:
    return atomicHalf<uint32_t, halfMinMax<false, isMax>>;
  case Type::BF16:
    return atomicHalf<uint16_t, halfMinMax<true, isMax>>;
  case Type::BF16x2:
    return atomicHalf<uint32_t, halfMinMax<true, isMax>>;
  default:
    return isBitsType(type) ? nullptr : pickInteger<op>(type);
  }
}

AtomicInfo::Function pick(AtomicOp op, Type type) {
  switch (op) {
  case AtomicOp::And:
    return isBitsType(type) ? pickInteger<AtomicOp::And>(type) : nullptr;
  case AtomicOp::Or:
    return isBitsType(type) ? pickInteger<AtomicOp::Or>(type) : nullptr;
  case AtomicOp::Xor:
    return isBitsType(type) ? pickInteger<AtomicOp::Xor>(type) : nullptr;
  case AtomicOp::Exch:
    return type == Type::B128 ? atomicWide<false>
                              : pickInteger<AtomicOp::Exch>(type);
  case AtomicOp::Add:
    return pickAdd(type);
  case AtomicOp::Inc:
    return type == Type::U32 ? pickInteger<AtomicOp::Inc>(type) : nullptr;
  case AtomicOp::Dec:
    return type == Type::U32 ? pickInteger<AtomicOp::Dec>(type) : nullptr;
  case AtomicOp::Min:
    return pickMinMax<AtomicOp::Min>(type);
  case AtomicOp::Max:
    return pickMinMax<AtomicOp::Max>(type);
  case AtomicOp::Cas:
    switch (bitWidth(type)) {
    case 16:
      return atomicCas<uint16_t>;
    case 32:
      return atomicCas<uint32_t>;
    case 64:
      return atomicCas<uint64_t>;
    default:
      return type == Type::B128 ? atomicWide<true> : nullptr;
    }
  }
  return nullptr;
}

} // namespace

static bool decodeAtomic(InstDecoder &d, bool returns) {
  AtomicInfo info;
  info.returns = returns;
  if (d.take("async"))
    return d.fail("red.async is not emulated");
  info.order = MemoryOrder(
      std::max(0, d.takeOneOf({"relaxed", "acquire", "release", "acq_rel"})));
  info.scope = takeScope(d, MemoryScope::Device);
  int space =
      d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster"});
  static const Space spaces[] = {Space::Global, Space::Shared, Space::Shared,
                                 Space::SharedCluster};
  if (space >= 0)
    info.space = spaces[space];
  int op = d.takeOneOf(
      {"and", "or", "xor", "exch", "add", "inc", "dec", "min", "max", "cas"});
  if (op < 0)
    return d.fail("unknown atomic operation");
  info.op = AtomicOp(op);
  d.take("noftz");
  bool hint = d.take("L2::cache_hint");
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  info.elements = vector < 0 ? 1 : 2u << vector;
  Type type = d.needType();
  if (d.failed())
    return false;
  info.elementBytes = bitWidth(type) / 8;
  bool isCas = info.op == AtomicOp::Cas;
  if (isCas && info.elements > 1)
    return d.finish(nullptr);
  unsigned next = returns ? 1 : 0;
  if (!d.needOperands(next + 2 + isCas, next + 2 + isCas + hint))
    return false;
  auto elements = [](const OperandSyntax &operand) {
    return operand.kind == OperandSyntax::Kind::Vector
               ? llvm::ArrayRef<OperandSyntax>(operand.children)
               : llvm::ArrayRef<OperandSyntax>(operand);
  };
  auto sizeMatches = [&](const OperandSyntax &operand) {
    return elements(operand).size() == info.elements ||
           d.fail("expected " + llvm::Twine(info.elements) + " registers");
  };
  if (returns) {
    if (d.statement.operands[0].kind == OperandSyntax::Kind::Sink) {
      info.returns = false;
    } else {
      if (!sizeMatches(d.statement.operands[0]))
        return false;
      for (const OperandSyntax &element : elements(d.statement.operands[0]))
        if (!d.addDest(element, type))
          return false;
    }
  }
  AddressOperand address;
  if (!d.addAddress(next, address) ||
      !sizeMatches(d.statement.operands[next + 1]))
    return false;
  for (const OperandSyntax &element : elements(d.statement.operands[next + 1]))
    if (!d.addSource(element, type))
      return false;
  if (isCas && !d.addSource(next + 2, type))
    return false;
  info.apply = pick(info.op, type);
  if (!info.apply)
    return d.finish(nullptr);
  if (info.op == AtomicOp::Add && type == Type::F32)
    info.applyGlobal = atomicFlushedAdd;
  d.setExtra(info);
  return d.finish(atomicLanes);
}

static bool decodeAtom(InstDecoder &d) { return decodeAtomic(d, true); }
static bool decodeRed(InstDecoder &d) {
  return d.take("async") ? decodeRedAsync(d) : decodeAtomic(d, false);
}

void tile_dialect::emulator::registerAtomicOps(OpcodeTable &table) {
  table.add("atom", decodeAtom, InstructionClass::Atomic);
  table.add("red", decodeRed, InstructionClass::Atomic);
}
