//===- OpsWgmma.cpp - wgmma ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each warp of a warpgroup computes its 16 of the 64 rows by itself: they share
// nothing but operands in shared memory.  The product is computed at issue; a
// wait ends once all four warps have committed the group.  The checks of the
// `race` mode know until when operands and accumulators are in use.
//
//===----------------------------------------------------------------------===//

#include "AsyncState.h"
#include "Collective.h"
#include "MatrixDescriptor.h"
#include "MatrixOps.h"
#include "Monitor.h"
#include "SparseMatrix.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {

struct WgmmaInfo {
  unsigned n = 0, k = 0;
  Type d = Type::None, a = Type::None, b = Type::None;
  bool aInRegisters = false;
  bool saturate = false;
  bool negateA = false, negateB = false;
  bool transposeA = false, transposeB = false;
  /// A holds half of its columns, chosen by metadata.
  bool isSparse = false;
  unsigned selector = 0;
  /// D, then A (registers or descriptor), B's descriptor, scale-d, metadata.
  unsigned firstA = 0, descriptorB = 0, scaleD = 0, metadata = 0;

  /// Columns of A that are stored.
  unsigned columnsOfA() const { return isSparse ? k / 2 : k; }
};

constexpr unsigned maximalN = 256, maximalK = 256, warpRows = 16;

bool checkWarpgroup(Warp &warp, const Inst &inst) {
  uint32_t last = warp.id / 4 * 4 + 3;
  if (last < warp.block->numWarps)
    return true;
  warp.error(Report::Kind::InvalidOperation, inst, 0,
             "wgmma needs a warpgroup of four warps; warp " + Twine(warp.id) +
                 " of a block of " + Twine(warp.block->numWarps) +
                 " warps is in none");
  return false;
}

/// Reads `rows` x k elements of an operand in shared memory, as rows of k.
bool readOperand(Warp &warp, const Inst &inst, const Operand &descriptor,
                 Type type, unsigned firstRow, unsigned rows, unsigned k,
                 bool isTransposed, bool negate, double *out,
                 std::vector<InFlight::Range> *ranges) {
  MatrixDescriptor parsed(*warp.source<uint64_t>(descriptor));
  if (const char *message = parsed.problem()) {
    warp.error(Report::Kind::InvalidOperation, inst, 0, message);
    return false;
  }
  const std::vector<uint8_t> &shared = warp.block->shared;
  unsigned bits = bitWidth(type), chunk = 128 / bits;
  // Runs of 16 bytes along the contiguous dimension.
  unsigned outer = isTransposed ? k : rows, inner = isTransposed ? rows : k;
  unsigned innerBegin = isTransposed ? firstRow : 0;
  unsigned outerBegin = isTransposed ? 0 : firstRow;
  for (unsigned o = 0; o < outer; ++o) {
    for (unsigned i = 0; i < inner; i += chunk) {
      uint32_t offset = parsed.chunkOffset(isTransposed, outerBegin + o,
                                           (innerBegin + i) / chunk);
      if (offset < reservedSharedBytes || offset + 16 > shared.size()) {
        warp.error(Report::Kind::OutOfBounds, inst, 0,
                   "a matrix descriptor reaches shared address 0x" +
                       Twine::utohexstr(offset) + ", outside of [0x400, 0x" +
                       Twine::utohexstr(shared.size()) + ")");
        return false;
      }
      if (ranges)
        ranges->push_back({offset, 16});
      double values[128];
      decodeElements(type, shared.data() + offset, chunk, values);
      for (unsigned e = 0; e < chunk; ++e) {
        double value = negate ? -values[e] : values[e];
        (isTransposed ? out[(i + e) * k + o] : out[o * k + i + e]) = value;
      }
    }
  }
  return true;
}

/// Joins ranges that touch.
void mergeRanges(std::vector<InFlight::Range> &ranges) {
  llvm::sort(ranges);
  size_t last = 0;
  for (size_t i = 1; i < ranges.size(); ++i) {
    auto [offset, bytes] = ranges[i];
    if (offset > ranges[last].first + ranges[last].second)
      ranges[++last] = ranges[i];
    else
      ranges[last].second =
          std::max(ranges[last].second, offset + bytes - ranges[last].first);
  }
  ranges.resize(std::min(ranges.size(), last + 1));
}

/// The operands in shared memory are read between the issue and the wait: told
/// at both.
void tellReading(Warp &warp, const Inst &inst,
                 llvm::ArrayRef<InFlight::Range> ranges, bool onlyChecks) {
  AsyncAccess access;
  access.onlyChecks = onlyChecks;
  access.inst = &inst;
  access.block = warp.block;
  access.ranges = ranges;
  warp.monitor->asyncStart(warp, access);
}

/// Notes what the instruction holds until its group is awaited.
void holdOperands(Warp &warp, const Inst &inst, const WgmmaInfo &info,
                  std::vector<InFlight::Range> ranges) {
  mergeRanges(ranges);
  tellReading(warp, inst, ranges, true);
  WarpAsync &async = asyncOf(warp);
  async.wgmmas.emplace_back();
  PendingWgmma &pending = async.wgmmas.back();
  pending.inst = &inst;
  pending.group = async.wgmmaGroups + 1;
  pending.ranges = ranges;
  if (InFlight *inFlight = asyncOf(*warp.block).inFlight.get())
    inFlight->begin(warp, inst, 0, false, std::move(ranges), pending.shared);
  if (!async.registers)
    return;
  WgmmaRegisters &registers = *async.registers;
  registers.prepare(warp.frame);
  registers.usesWgmma = true;
  registers.lastWgmma = &inst;
  bool isUnfenced = false;
  auto hold = [&](const Operand &operand, std::vector<uint64_t> &list) {
    size_t slot = operand.offset / 64;
    if (operand.bank != Operand::Registers || slot >= list.size())
      return;
    isUnfenced |= registers.dirty[slot];
    list[slot] = pending.group;
    ++registers.numHeld;
  };
  for (unsigned i = 0; i < inst.numDestinations; ++i)
    hold(inst.operands[i], registers.accumulators);
  for (unsigned i = info.firstA; info.aInRegisters && i < info.descriptorB; ++i)
    hold(inst.operands[i], registers.sources);
  if (isUnfenced)
    warp.context->report(
        warp.block->cluster->number,
        warp.makeReport(Report::Kind::Race, &inst, 0,
                        "registers of this wgmma were written without a "
                        "wgmma.fence between"));
}

/// The warp's rows of A, from registers or shared memory.
bool readA(Warp &warp, const Inst &inst, const WgmmaInfo &info, double *a,
           std::vector<InFlight::Range> *ranges) {
  const unsigned k = info.columnsOfA();
  if (!info.aInRegisters)
    return readOperand(warp, inst, inst.operands[info.firstA], info.a,
                       warp.id % 4 * warpRows, warpRows, k, info.transposeA,
                       info.negateA, a, ranges);
  const void *registers[4];
  for (unsigned i = 0; i < 4; ++i)
    registers[i] = warp.source<uint8_t>(inst.operands[info.firstA + i]);
  gatherA(info.a, warpRows, k, registers, a);
  for (unsigned i = 0; info.negateA && i < warpRows * k; ++i)
    a[i] = -a[i];
  return true;
}

/// d += a * b; false after an error.
bool multiply(Warp &warp, const Inst &inst, const WgmmaInfo &info,
              const double *a, const double *b, double *d) {
  if (!info.isSparse) {
    multiplyAdd(warpRows, info.n, info.k, a, b, d);
    return true;
  }
  uint8_t columns[warpRows * maximalSparseK / 2];
  const Operand &metadata = inst.operands[info.metadata];
  if (const char *message =
          sparseColumns(info.a, info.k, info.selector, /*ordered=*/false,
                        warp.source<uint32_t>(metadata), columns)) {
    warp.error(Report::Kind::InvalidOperation, inst, 0, message);
    return false;
  }
  multiplyAddSparse(info.n, info.k, a, columns, b, d);
  return true;
}

Step wgmmaWarp(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  if (!checkWarpgroup(warp, inst))
    return Step::Error;
  const auto &info = *static_cast<const WgmmaInfo *>(inst.extra);
  unsigned n = info.n, k = info.k;
  bool isChecked = warp.monitor && warp.context->options.checkRaces;
  std::vector<InFlight::Range> ranges;
  std::vector<InFlight::Range> *noted = isChecked ? &ranges : nullptr;
  double a[warpRows * maximalK];
  if (!readA(warp, inst, info, a, noted))
    return Step::Error;
  // Large buffers are the thread's, not the stack's.
  thread_local std::vector<double> rowsOfB(maximalN * maximalK),
      b(maximalN * maximalK);
  if (!readOperand(warp, inst, inst.operands[info.descriptorB], info.b, 0, n, k,
                   info.transposeB, info.negateB, rowsOfB.data(), noted))
    return Step::Error;
  for (unsigned row = 0; row < n; ++row)
    for (unsigned i = 0; i < k; ++i)
      b[i * n + row] = rowsOfB[row * k + i];
  double d[warpRows * maximalN];
  void *registers[maximalN / 2];
  for (unsigned i = 0; i < inst.numDestinations; ++i)
    registers[i] = warp.dest<uint8_t>(inst.operands[i]);
  LaneMask scale = warp.predicate(inst.operands[info.scaleD]);
  if (scale != 0 && scale != allLanes)
    return warp.error(Report::Kind::InvalidOperation, inst, 0,
                      "scale-d must be the same in all lanes");
  if (scale)
    gatherC(info.d, warpRows, n, registers, d);
  else
    std::fill(d, d + warpRows * n, 0.0);
  if (!multiply(warp, inst, info, a, b.data(), d))
    return Step::Error;
  scatterD(info.d, warpRows, n, info.saturate, d, registers);
  if (LLVM_UNLIKELY(warp.monitor != nullptr)) {
    warp.worker->stats.matrixMacs += uint64_t(warpRows) * n * info.columnsOfA();
    if (isChecked)
      holdOperands(warp, inst, info, std::move(ranges));
  }
  return Step::Next;
}

Step wgmmaFence(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next || !warp.context->options.checkRaces)
    return step;
  WarpAsync &async = asyncOf(warp);
  if (async.registers) {
    async.registers->usesWgmma = true;
    async.registers->prepare(warp.frame);
    auto &dirty = async.registers->dirty;
    dirty.assign(dirty.size(), false);
  }
  return Step::Next;
}

Step wgmmaCommit(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  if (!checkWarpgroup(warp, inst))
    return Step::Error;
  ++asyncOf(warp).wgmmaGroups;
  return Step::Next;
}

/// The groups that all warps of the warpgroup have committed.
uint64_t committedByAll(Warp &warp) {
  uint64_t least = ~uint64_t(0);
  for (uint32_t w = warp.id / 4 * 4; w < warp.id / 4 * 4 + 4; ++w)
    least = std::min(least, asyncOf(*warp.block->warps[w]).wgmmaGroups);
  return least;
}

/// Ends the groups up to `done`.  A wgmma is an operation of the whole
/// warpgroup: the first warp that has waited for it has waited for the reads of
/// all.
void finishGroups(Warp &warp, uint64_t done) {
  if (!warp.monitor)
    return;
  warp.monitor->wgmmaAcquire(warp);
  bool isFirst = false;
  for (uint32_t w = warp.id / 4 * 4; w < warp.id / 4 * 4 + 4; ++w) {
    auto &pending = asyncOf(*warp.block->warps[w]).wgmmas;
    for (; !pending.empty() && pending.front().group <= done;
         pending.pop_front()) {
      pending.front().shared.end();
      tellReading(warp, *pending.front().inst, pending.front().ranges, false);
      isFirst = true;
    }
  }
  if (isFirst)
    warp.monitor->wgmmaRelease(warp);
  WarpAsync &async = asyncOf(warp);
  if (async.registers)
    async.registers->release(done);
}

bool pollGroups(Warp &warp, Split &split) {
  if (committedByAll(warp) < split.wait.data[0])
    return false;
  finishGroups(warp, split.wait.data[0]);
  return true;
}

/// immediate: the groups that may stay pending.
Step wgmmaWait(Warp &warp, const Inst &inst, LaneMask mask) {
  Step step = needWholeWarp(warp, inst, mask);
  if (step != Step::Next)
    return step;
  if (!checkWarpgroup(warp, inst))
    return Step::Error;
  uint64_t keep = inst.immediate, groups = asyncOf(warp).wgmmaGroups;
  if (groups <= keep)
    return Step::Next;
  uint64_t done = groups - keep;
  if (committedByAll(warp) < done) {
    warp.wait = Wait{pollGroups, &inst, {done, 0}};
    return Step::Wait;
  }
  finishGroups(warp, done);
  return Step::Next;
}

bool isByteType(Type type) { return type == Type::S8 || type == Type::U8; }

/// The k of a type of A and B, zero if wgmma has none; checks D as well.
unsigned depthOf(const WgmmaInfo &info) {
  bool toFloat = info.d == Type::F32, toHalf = info.d == Type::F16;
  if (info.a == Type::F16 && info.b == info.a && (toFloat || toHalf))
    return 16;
  if (info.a == Type::BF16 && info.b == info.a && toFloat)
    return 16;
  if (info.a == Type::TF32 && info.b == info.a && toFloat)
    return 8;
  if (isFloat8(info.a) && isFloat8(info.b) && (toFloat || toHalf))
    return 32;
  if (isByteType(info.a) && isByteType(info.b) && info.d == Type::S32)
    return 32;
  if (info.a == Type::B1 && info.b == info.a && info.d == Type::S32)
    return 256;
  return 0;
}

} // namespace

static bool takeWgmmaTypes(InstDecoder &d, WgmmaInfo &info) {
  MatrixShape shape;
  if (!takeShape(d, shape))
    return false;
  info.n = shape.n;
  info.k = shape.k;
  info.d = d.needType();
  info.a = d.needType();
  info.b = d.needType();
  if (d.failed())
    return false;
  info.saturate = d.take("satfinite");
  bool isInteger = info.d == Type::S32;
  if (info.a == Type::B1 && (!d.take("and") || !d.take("popc")))
    return d.fail("wgmma of .b1 needs .and.popc");
  if (info.saturate && !isByteType(info.a))
    return d.fail(".satfinite is for integers");
  bool isN = shape.n >= 8 && shape.n <= 256 && shape.n % 8 == 0 &&
             (!isInteger || shape.n == 8 || shape.n == 24 || shape.n % 16 == 0);
  unsigned k = depthOf(info) * (info.isSparse ? 2 : 1);
  bool isKnown = !info.isSparse || info.a != Type::B1;
  if (shape.m == 64 && isN && isKnown && shape.k && shape.k == k)
    return true;
  return d.fail("wgmma has no m" + Twine(shape.m) + "n" + Twine(shape.n) + "k" +
                Twine(shape.k) + " of ." + typeName(info.d) + "." +
                typeName(info.a) + "." + typeName(info.b));
}

/// `imm-scale` is 1 or -1, `imm-trans` is 0 or 1.
static bool takeImmediate(InstDecoder &d, unsigned index, int64_t plain,
                          int64_t special, bool &result) {
  int64_t value;
  if (!d.constantValue(index, value))
    return false;
  if (value != plain && value != special)
    return d.fail("operand " + Twine(index) + " must be " + Twine(plain) +
                  " or " + Twine(special) + ", found " + Twine(value));
  result = value == special;
  return true;
}

/// The metadata and its selector.
static bool addMetadata(InstDecoder &d, unsigned index, WgmmaInfo &info) {
  int64_t selector;
  info.metadata = d.operands.size();
  if (!d.addSource(index, Type::B32) || !d.constantValue(index + 1, selector))
    return false;
  int64_t limit = numSelectors(info.a, info.k);
  if (selector < 0 || selector >= limit)
    return d.fail("the sparsity selector must be 0 to " + Twine(limit - 1) +
                  " here, found " + Twine(selector));
  info.selector = selector;
  return true;
}

static bool decodeMmaAsync(InstDecoder &d) {
  WgmmaInfo info;
  info.isSparse = d.take("sp");
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("wgmma needs .sync.aligned");
  if (!takeWgmmaTypes(d, info))
    return false;
  if (!d.needOperands(4, 10))
    return false;
  info.aInRegisters =
      d.statement.operands[1].kind == OperandSyntax::Kind::Vector;
  bool isInteger = info.d == Type::S32;
  bool hasTranspose = bitWidth(info.a) == 16;
  unsigned count = 4 + (isInteger ? 0 : 2) + (info.isSparse ? 2 : 0) +
                   (hasTranspose ? (info.aInRegisters ? 1 : 2) : 0);
  if (!d.needOperands(count) ||
      !addDestVector(d, 0, Type::B32, info.n / (info.d == Type::F16 ? 4 : 2)))
    return false;
  info.firstA = d.operands.size();
  if (!(info.aInRegisters ? addSourceVector(d, 1, Type::B32, 4)
                          : d.addSource(1, Type::B64)))
    return false;
  info.descriptorB = d.operands.size();
  if (!d.addSource(2, Type::B64))
    return false;
  unsigned next = 3;
  if (info.isSparse && !addMetadata(d, next, info))
    return false;
  next += info.isSparse ? 2 : 0;
  info.scaleD = d.operands.size();
  if (!d.addSource(next++, Type::Pred))
    return false;
  if (!isInteger && (!takeImmediate(d, next++, 1, -1, info.negateA) ||
                     !takeImmediate(d, next++, 1, -1, info.negateB)))
    return false;
  if (hasTranspose && !info.aInRegisters &&
      !takeImmediate(d, next++, 0, 1, info.transposeA))
    return false;
  if (hasTranspose && !takeImmediate(d, next++, 0, 1, info.transposeB))
    return false;
  d.setExtra(info);
  return d.finish(wgmmaWarp);
}

static bool decodeWgmma(InstDecoder &d) {
  if (d.take("mma_async"))
    return decodeMmaAsync(d);
  int op = d.takeOneOf({"fence", "commit_group", "wait_group"});
  if (op < 0)
    return d.fail("expected .mma_async, .fence, .commit_group or .wait_group");
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("wgmma needs .sync.aligned");
  if (op < 2)
    return d.needOperands(0) && d.finish(op == 0 ? wgmmaFence : wgmmaCommit);
  int64_t count;
  if (!d.needOperands(1) || !d.constantValue(0, count))
    return false;
  if (count < 0)
    return d.fail("the number of pending groups is not negative");
  d.inst.immediate = count;
  return d.finish(wgmmaWait);
}

void tile_dialect::emulator::registerWgmmaOps(OpcodeTable &table) {
  table.add("wgmma", decodeWgmma, InstructionClass::Matrix);
}
