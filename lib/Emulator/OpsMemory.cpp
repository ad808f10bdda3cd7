//===- OpsMemory.cpp - Loads, stores and fences ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"
#include "Lanes.h"
#include "Monitor.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile_dialect::emulator;

namespace {

/// 128 bits in memory.
struct Wide128 {
  uint64_t low, high;
};

/// How a load or store reaches memory.
struct MemoryInfo {
  Space space = Space::Generic;
  unsigned elements = 1;
  bool strong = false;
  MemoryScope scope = MemoryScope::None;
  MemoryOrder order = MemoryOrder::Relaxed;
  /// Address and size of an element in memory.
  unsigned elementBytes = 4;
  /// The address is a multiple of this: of the whole access's size.
  unsigned alignment = 4;
  /// Bytes at the end of the last element that are not touched.
  unsigned unusedBytes = 0;

  unsigned totalBytes() const { return elements * elementBytes - unusedBytes; }
};

std::string hexText(uint64_t value) {
  return "0x" + llvm::utohexstr(value, /*LowerCase=*/true);
}

bool checkAlignment(Warp &warp, const Inst &inst, uint64_t address,
                    unsigned alignment, unsigned l) {
  if (LLVM_LIKELY((address & (alignment - 1)) == 0))
    return true;
  warp.error(Report::Kind::Misaligned, inst, l,
             "access of " + llvm::Twine(alignment) + " bytes at address " +
                 hexText(address));
  return false;
}

/// The host memory of each active lane's access; false after an error.
bool locate(Warp &warp, const Inst &inst, const MemoryInfo &info,
            const Operand &base, LaneMask mask, AccessKind kind,
            uint8_t **pointers) {
  uint64_t addresses[warpSize];
  warp.addresses(base, inst.immediate, addresses);
  unsigned bytes = info.totalBytes();
  if (LLVM_UNLIKELY(warp.monitor != nullptr)) {
    Access access;
    access.inst = &inst;
    access.space = info.space;
    access.kind = kind;
    access.scope = info.scope;
    access.order = info.order;
    access.mask = mask;
    access.bytes = bytes;
    access.addresses = addresses;
    if (kind == AccessKind::Write) {
      access.values = &inst.operands[1];
      access.elementBytes = info.elementBytes;
    }
    if (!warp.observe(access))
      return false;
  }
  bool write = kind != AccessKind::Read;
  Worker &worker = *warp.worker;
  uint8_t *shared = warp.block->shared.data();
  uint64_t sharedBytes = warp.block->shared.size();
  while (mask) {
    unsigned l = llvm::countr_zero(mask);
    mask &= mask - 1;
    uint64_t address = addresses[l];
    if (!checkAlignment(warp, inst, address, info.alignment, l))
      return false;
    uint8_t *host = nullptr;
    if (info.space == Space::Global)
      host = worker.global(address, bytes, write);
    else if (info.space == Space::Shared && address >= reservedSharedBytes &&
             address + bytes <= sharedBytes)
      host = shared + address;
    if (LLVM_UNLIKELY(!host)) {
      host = warp.resolve(inst, info.space, address, bytes, write, l);
      if (!host)
        return false;
    }
    pointers[l] = host;
  }
  return true;
}

/// Memory type M into a register of type R: signed M extends its sign.
template <typename M, typename R>
void readElement(Warp &warp, const Operand &dest, uint8_t *const *pointers,
                 unsigned offset, LaneMask mask) {
  R *d = warp.dest<R>(dest);
  eachLane(mask, [&](unsigned l) {
    M value;
    std::memcpy(&value, pointers[l] + offset, sizeof(M));
    if constexpr (sizeof(R) == 16)
      d[l] = value;
    else
      d[l] = R(value);
  });
}

template <typename M, typename R>
void writeElement(Warp &warp, const Operand &source, uint8_t *const *pointers,
                  unsigned offset, LaneMask mask) {
  const R *s = warp.source<R>(source);
  eachLane(mask, [&](unsigned l) {
    if constexpr (sizeof(R) == 16) {
      std::memcpy(pointers[l] + offset, &s[l], 16);
    } else {
      M value = M(s[l]);
      std::memcpy(pointers[l] + offset, &value, sizeof(M));
    }
  });
}

using ElementFunction = void (*)(Warp &, const Operand &, uint8_t *const *,
                                 unsigned, LaneMask);

struct LoadInfo : MemoryInfo {
  /// By element: destinations may have different widths.
  ElementFunction access[8] = {};
};

/// A value that changes when what was loaded changes.
uint64_t hashOf(uint8_t *const *pointers, LaneMask mask, unsigned bytes,
                const Inst &inst) {
  uint64_t hash = reinterpret_cast<uintptr_t>(&inst) | 1;
  eachLane(mask, [&](unsigned l) {
    uint64_t value = 0;
    std::memcpy(&value, pointers[l], std::min(bytes, 8u));
    hash = (hash ^ value ^ reinterpret_cast<uintptr_t>(pointers[l])) *
           0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  });
  return hash;
}

/// Loads a last element of which some bytes at the end may lie outside: they
/// read as zero.
void readLastElement(Warp &warp, const Inst &inst, const LoadInfo &info,
                     uint8_t *const *pointers, LaneMask mask) {
  uint8_t copies[warpSize][16] = {};
  uint8_t *copyPointers[warpSize];
  unsigned last = info.elements - 1;
  eachLane(mask, [&](unsigned l) {
    std::memcpy(copies[l], pointers[l] + last * info.elementBytes,
                info.elementBytes - info.unusedBytes);
    copyPointers[l] = copies[l];
  });
  info.access[last](warp, inst.operands[last], copyPointers, 0, mask);
}

Step loadLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const LoadInfo *>(inst.extra);
  uint8_t *pointers[warpSize];
  if (!locate(warp, inst, info, inst.operands[inst.numDestinations], mask,
              AccessKind::Read, pointers))
    return Step::Error;
  bool isLastPartial = info.unusedBytes != 0;
  for (unsigned e = 0, end = info.elements - isLastPartial; e < end; ++e)
    info.access[e](warp, inst.operands[e], pointers, e * info.elementBytes,
                   mask);
  if (LLVM_UNLIKELY(isLastPartial))
    readLastElement(warp, inst, info, pointers, mask);
  if (LLVM_LIKELY(!info.strong))
    return Step::Next;
  // What another host thread released; costs nothing on x86.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (warp.monitor)
    warp.monitor->strongRead(warp);
  return warp.polled(hashOf(pointers, mask, info.totalBytes(), inst));
}

Step storeLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const LoadInfo *>(inst.extra);
  uint8_t *pointers[warpSize];
  if (!locate(warp, inst, info, inst.operands[0], mask, AccessKind::Write,
              pointers))
    return Step::Error;
  // In a loop that polls, one lane may tell the others each time through that
  // nothing has changed.
  bool repeats = llvm::isPowerOf2_32(mask) && info.totalBytes() <= 8 &&
                 (warp.failedPolls > 0 || warp.sincePoll == 0);
  uint64_t before = 0;
  if (LLVM_UNLIKELY(repeats))
    before = hashOf(pointers, mask, info.totalBytes(), inst);
  if (LLVM_UNLIKELY(info.strong))
    std::atomic_thread_fence(std::memory_order_release);
  for (unsigned e = 0; e < info.elements; ++e)
    info.access[e](warp, inst.operands[1 + e], pointers, e * info.elementBytes,
                   mask);
  if (!repeats || before != hashOf(pointers, mask, info.totalBytes(), inst))
    warp.wrote = true;
  return Step::Next;
}

/// Parameters of a device function: each lane has its own in the frame.
void frameParameters(Warp &warp, const Inst &inst, uint8_t **pointers) {
  const FunctionCode &code = *warp.frame->code;
  uint8_t *begin = warp.frame->registers + code.paramOffset + inst.immediate;
  for (unsigned l = 0; l < warpSize; ++l)
    pointers[l] = begin + l * code.paramStride;
}

Step loadFrameParam(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const LoadInfo *>(inst.extra);
  uint8_t *pointers[warpSize];
  frameParameters(warp, inst, pointers);
  for (unsigned e = 0; e < info.elements; ++e)
    info.access[e](warp, inst.operands[e], pointers, e * info.elementBytes,
                   mask);
  return Step::Next;
}

Step storeFrameParam(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const LoadInfo *>(inst.extra);
  uint8_t *pointers[warpSize];
  frameParameters(warp, inst, pointers);
  for (unsigned e = 0; e < info.elements; ++e)
    info.access[e](warp, inst.operands[e], pointers, e * info.elementBytes,
                   mask);
  return Step::Next;
}

template <typename M> ElementFunction pickRead(unsigned registerBytes) {
  switch (registerBytes) {
  case 2:
    return readElement<
        M, std::conditional_t<std::is_signed_v<M>, int16_t, uint16_t>>;
  case 4:
    return readElement<
        M, std::conditional_t<std::is_signed_v<M>, int32_t, uint32_t>>;
  case 8:
    return readElement<
        M, std::conditional_t<std::is_signed_v<M>, int64_t, uint64_t>>;
  default:
    return nullptr;
  }
}

ElementFunction pickRead(Type type, unsigned registerBytes) {
  bool isSigned = isSignedType(type);
  switch (bitWidth(type)) {
  case 8:
    return isSigned ? pickRead<int8_t>(registerBytes)
                    : pickRead<uint8_t>(registerBytes);
  case 16:
    return isSigned ? pickRead<int16_t>(registerBytes)
                    : pickRead<uint16_t>(registerBytes);
  case 32:
    return isSigned ? pickRead<int32_t>(registerBytes)
                    : pickRead<uint32_t>(registerBytes);
  case 64:
    return pickRead<uint64_t>(registerBytes);
  case 128:
    return registerBytes == 16 ? readElement<Wide128, Wide128> : nullptr;
  default:
    return nullptr;
  }
}

template <typename M> ElementFunction pickWrite(unsigned registerBytes) {
  switch (registerBytes) {
  case 2:
    return writeElement<M, uint16_t>;
  case 4:
    return writeElement<M, uint32_t>;
  case 8:
    return writeElement<M, uint64_t>;
  default:
    return nullptr;
  }
}

ElementFunction pickWrite(Type type, unsigned registerBytes) {
  switch (bitWidth(type)) {
  case 8:
    return pickWrite<uint8_t>(registerBytes);
  case 16:
    return pickWrite<uint16_t>(registerBytes);
  case 32:
    return pickWrite<uint32_t>(registerBytes);
  case 64:
    return pickWrite<uint64_t>(registerBytes);
  case 128:
    return registerBytes == 16 ? writeElement<Wide128, Wide128> : nullptr;
  default:
    return nullptr;
  }
}

/// aux[0]: the fence is between the generic and the async proxy; aux[1]: the
/// MemoryScope of a fence of memory.
Step fenceLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  if (inst.aux[1] && LLVM_UNLIKELY(warp.monitor != nullptr))
    warp.monitor->fence(warp, MemoryScope(inst.aux[1]));
  if (inst.aux[0] && warp.context->options.checkRaces)
    noteProxyFence(warp, mask);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return Step::Next;
}

} // namespace

/// Consumes what orders and hints an access; `hint` tells of an operand.
static bool takeMemoryModifiers(InstDecoder &d, MemoryInfo &info, bool &hint,
                                bool &isParam) {
  isParam = false;
  int space =
      d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster",
                   "local", "const", "param", "param::entry", "param::func"});
  static const Space spaces[] = {
      Space::Global,        Space::Shared, Space::Shared,
      Space::SharedCluster, Space::Local,  Space::Const,
      Space::Param,         Space::Param,  Space::Param};
  if (space >= 0)
    info.space = spaces[space];
  isParam = space >= 6;
  int order = d.takeOneOf(
      {"weak", "relaxed", "acquire", "release", "volatile", "mmio"});
  info.strong = order > 0;
  if (d.take("mmio") || d.take("relaxed"))
    info.strong = true;
  if (info.strong) {
    // `.volatile` is `.relaxed.sys`.
    info.scope = takeScope(d, MemoryScope::Device);
    info.order = order == 2   ? MemoryOrder::Acquire
                 : order == 3 ? MemoryOrder::Release
                              : MemoryOrder::Relaxed;
  }
  d.take("nc");
  d.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  hint = d.take("L2::cache_hint");
  while (!d.takePrefixed("L1::").empty() || !d.takePrefixed("L2::").empty())
    ;
  d.take("unified");
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  info.elements = vector < 0 ? 1 : 2u << vector;
  return true;
}

static llvm::ArrayRef<OperandSyntax> elementsOf(const OperandSyntax &operand) {
  if (operand.kind == OperandSyntax::Kind::Vector)
    return operand.children;
  return operand;
}

static bool finishAccess(InstDecoder &d, LoadInfo &info, Type type,
                         const AddressOperand &address, bool isParam,
                         bool isLoad) {
  if (info.elements * bitWidth(type) > 256)
    return d.fail("an access has at most 32 bytes");
  unsigned first = isLoad ? 0 : d.operands.size() - info.elements;
  for (unsigned e = 0; e < info.elements; ++e) {
    unsigned bytes = d.operands[first + e].bytes;
    info.access[e] = isLoad ? pickRead(type, bytes) : pickWrite(type, bytes);
    if (!info.access[e])
      return d.finish(nullptr);
  }
  if (isParam && address.isFrameParam) {
    d.inst.instructionClass = InstructionClass::ParameterAccess;
    // The base that addAddress has put there means nothing.
    if (!isLoad)
      d.operands.erase(d.operands.begin());
    uint64_t end = address.offset + uint64_t(info.elements) * info.elementBytes;
    if (address.offset < 0 || end > (1u << 20))
      return d.fail("this parameter has no such bytes");
    auto &stride = d.builder.current().paramStride;
    stride = std::max<uint32_t>(stride, (end + 15) / 16 * 16);
    d.setExtra(info);
    return d.finish(isLoad ? loadFrameParam : storeFrameParam);
  }
  info.alignment = info.elements * info.elementBytes;
  // What is behind the last used byte is not read: it may lie outside.
  if (uint32_t used = isLoad ? d.statement.usedBytesMask : 0) {
    unsigned bytes = std::min(info.alignment, llvm::Log2_32(used) + 1);
    info.elements = llvm::divideCeil(bytes, info.elementBytes);
    info.unusedBytes = info.elements * info.elementBytes - bytes;
  }
  d.setExtra(info);
  return d.finish(isLoad ? loadLanes : storeLanes);
}

static InstructionClass classOf(Space space, bool isLoad) {
  switch (space) {
  case Space::Shared:
  case Space::SharedCluster:
    return isLoad ? InstructionClass::SharedLoad
                  : InstructionClass::SharedStore;
  case Space::Local:
    return InstructionClass::LocalAccess;
  case Space::Param:
    return InstructionClass::ParameterAccess;
  default:
    return isLoad ? InstructionClass::GlobalLoad
                  : InstructionClass::GlobalStore;
  }
}

static bool decodeLoad(InstDecoder &d) {
  LoadInfo info;
  bool hint, isParam;
  takeMemoryModifiers(d, info, hint, isParam);
  Type type = d.needType();
  if (d.failed() || !d.needOperands(hint ? 3 : 2))
    return false;
  info.elementBytes = bitWidth(type) / 8;
  d.inst.instructionClass = classOf(info.space, true);
  auto elements = elementsOf(d.statement.operands[0]);
  if (elements.size() != info.elements)
    return d.fail("expected " + llvm::Twine(info.elements) +
                  " registers, found " + llvm::Twine(elements.size()));
  for (const OperandSyntax &element : elements)
    if (!d.addDest(element, type, true))
      return false;
  AddressOperand address;
  if (!d.addAddress(1, address))
    return false;
  return finishAccess(d, info, type, address, isParam, true);
}

static bool decodeStore(InstDecoder &d) {
  if (d.take("async"))
    return decodeStoreAsync(d);
  if (d.take("bulk"))
    return d.fail("'st.bulk', which sm_100 has, is not emulated");
  LoadInfo info;
  bool hint, isParam;
  takeMemoryModifiers(d, info, hint, isParam);
  Type type = d.needType();
  if (d.failed() || !d.needOperands(hint ? 3 : 2))
    return false;
  info.elementBytes = bitWidth(type) / 8;
  d.inst.instructionClass = classOf(info.space, false);
  AddressOperand address;
  if (!d.addAddress(0, address))
    return false;
  auto elements = elementsOf(d.statement.operands[1]);
  if (elements.size() != info.elements)
    return d.fail("expected " + llvm::Twine(info.elements) +
                  " registers, found " + llvm::Twine(elements.size()));
  for (const OperandSyntax &element : elements)
    if (!d.addSource(element, type, true))
      return false;
  return finishAccess(d, info, type, address, isParam, false);
}

static bool decodeMembar(InstDecoder &d) {
  int level = d.takeOneOf({"cta", "gl", "sys", "proxy"});
  if (level < 0)
    return d.fail("expected .cta, .gl or .sys");
  static const MemoryScope scopes[] = {MemoryScope::Block, MemoryScope::Device,
                                       MemoryScope::Device, MemoryScope::None};
  d.inst.aux[1] = uint32_t(scopes[level]);
  d.takePrefixed("alias");
  return d.finish(fenceLanes);
}

static bool decodeFence(InstDecoder &d) {
  if (d.take("proxy")) {
    // .async[.global|.shared::{cta,cluster}], .alias, .tensormap::generic…
    bool known = false;
    known |= d.take("alias");
    d.inst.aux[0] = !d.takePrefixed("async").empty();
    known |= d.inst.aux[0] != 0;
    known |= !d.takePrefixed("tensormap::generic").empty();
    if (!known)
      return d.fail("unknown proxy");
    d.takeOneOf({"global", "shared::cta", "shared::cluster"});
    d.takePrefixed("sync_restrict::");
  } else {
    d.take("mbarrier_init");
  }
  bool orders = d.takeOneOf({"sc", "acq_rel", "acquire", "release"}) >= 0;
  d.takePrefixed("sync_restrict::");
  MemoryScope scope = takeScope(d, MemoryScope::Device);
  d.inst.aux[1] = uint32_t(orders ? scope : MemoryScope::None);
  if (!d.needOperands(0, 2))
    return false;
  return d.finish(fenceLanes);
}

void tile_dialect::emulator::registerMemoryOps(OpcodeTable &table) {
  table.add("ld", decodeLoad, InstructionClass::GlobalLoad);
  table.add("ldu", decodeLoad, InstructionClass::GlobalLoad);
  table.add("st", decodeStore, InstructionClass::GlobalStore);
  table.add("membar", decodeMembar, InstructionClass::Barrier);
  table.add("fence", decodeFence, InstructionClass::Barrier);
}
