//===- Warp.cpp - Execution of a warp ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceHeap.h"
#include "Monitor.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>

using namespace tile_dialect::emulator;
using llvm::Twine;

/// Call frames that a lane may have, against runaway recursion.
static constexpr uint32_t maximalCallDepth = 512;
/// Local memory of a lane in bytes.
static constexpr uint32_t maximalLocalBytes = 1u << 26;
/// Instructions behind a failed poll that still count as a part of polling.
static constexpr uint64_t pollLoopLength = 1000;
/// Jumps after which a split that was passed over gets its turn, and the jumps
/// that it may then make.
static constexpr uint32_t jumpsBeforeTurn = 256, jumpsInTurn = 64;

//===----------------------------------------------------------------------===//
// Operands and memory
//===----------------------------------------------------------------------===//

uint64_t Warp::lane(const Operand &operand, unsigned lane) const {
  switch (operand.bytes) {
  case 0:
    return predicate(operand) >> lane & 1;
  case 2:
    return source<uint16_t>(operand)[lane];
  case 4:
    return source<uint32_t>(operand)[lane];
  case 8:
    return source<uint64_t>(operand)[lane];
  default:
    return source<uint64_t>(operand)[2 * lane];
  }
}

void Warp::setLane(const Operand &operand, unsigned lane, uint64_t value) {
  switch (operand.bytes) {
  case 0:
    setPredicate(operand, value ? allLanes : 0, LaneMask(1) << lane);
    break;
  case 2:
    dest<uint16_t>(operand)[lane] = value;
    break;
  case 4:
    dest<uint32_t>(operand)[lane] = value;
    break;
  case 8:
    dest<uint64_t>(operand)[lane] = value;
    break;
  default:
    dest<uint64_t>(operand)[2 * lane] = value;
    dest<uint64_t>(operand)[2 * lane + 1] = 0;
    break;
  }
}

void Warp::addresses(const Operand &base, int64_t offset,
                     uint64_t *result) const {
  if (base.bytes == 4) {
    const uint32_t *b = source<uint32_t>(base);
    for (unsigned l = 0; l < warpSize; ++l)
      result[l] = uint32_t(b[l] + uint32_t(offset));
    return;
  }
  const uint64_t *b = source<uint64_t>(base);
  for (unsigned l = 0; l < warpSize; ++l)
    result[l] = b[l] + uint64_t(offset);
}

static std::string describeAllocation(const Allocation *near,
                                      uint64_t address) {
  if (!near)
    return "there are no allocations";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "the nearest allocation is '" << near->name << "' of " << near->size
     << " bytes at " << llvm::format_hex(near->base, 2) << ", the address is ";
  if (address < near->base)
    os << near->base - address << " bytes before it";
  else if (address - near->base >= near->size)
    os << address - near->base - near->size << " bytes past its end";
  else
    os << address - near->base << " bytes into it";
  return text;
}

static std::string hex(uint64_t value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format_hex(value, 2);
  return text;
}

uint8_t *Warp::resolve(const Inst &inst, Space space, uint64_t address,
                       uint32_t bytes, bool write, unsigned l) {
  uint64_t original = address;
  if (space == Space::Generic) {
    uint64_t window = address & ~(windowBytes - 1);
    space = Space::Global;
    if (window == sharedWindow)
      space = Space::SharedCluster;
    else if (window == localWindow)
      space = Space::Local;
    else if (window == paramWindow)
      space = Space::Param;
    if (space != Space::Global)
      address -= window;
  }
  const char *verb = write ? "write" : "read";
  switch (space) {
  case Space::Generic:
  case Space::Register:
    break;
  case Space::Global:
  case Space::Const: {
    if (uint8_t *host = worker->global(address, bytes, write))
      return host;
    const Allocation *near = context->memory.find(address);
    if (near && near->readOnly && write &&
        near->base + near->size - address >= bytes) {
      error(Report::Kind::OutOfBounds, inst, l,
            "write to read-only memory '" + near->name + "'");
      return nullptr;
    }
    if (near && near->heap) {
      error(Report::Kind::OutOfBounds, inst, l,
            Twine(verb) + " of " + Twine(bytes) + " bytes at global address " +
                hex(original) +
                " is outside of every block of the device heap; " +
                near->heap->describe(address));
      return nullptr;
    }
    near = context->memory.nearest(address);
    error(
        Report::Kind::OutOfBounds, inst, l,
        Twine(verb) + " of " + Twine(bytes) + " bytes at global address " +
            hex(original) +
            (near && address >= near->base && address - near->base < near->size
                 ? " runs past the end of an allocation; "
                 : " is outside of every allocation; ") +
            describeAllocation(near, address));
    return nullptr;
  }
  case Space::Shared:
  case Space::SharedCluster: {
    Block *owner = block;
    uint32_t rank = uint32_t(address) >> sharedRankShift;
    uint32_t offset = uint32_t(address) & ((1u << sharedRankShift) - 1);
    if (rank != 0) {
      if (space == Space::Shared || rank > block->cluster->numBlocks) {
        error(Report::Kind::OutOfBounds, inst, l,
              Twine(verb) + " at shared address " + hex(original) +
                  (space == Space::Shared
                       ? ", which is not in the block's own shared memory"
                       : ", which names no block of the cluster"));
        return nullptr;
      }
      owner = block->cluster->blocks[rank - 1].get();
    }
    if (address >= windowBytes || offset < reservedSharedBytes ||
        uint64_t(offset) + bytes > owner->shared.size()) {
      error(Report::Kind::OutOfBounds, inst, l,
            Twine(verb) + " of " + Twine(bytes) + " bytes at shared address " +
                hex(original) + ", outside of the block's shared memory [" +
                hex(reservedSharedBytes) + ", " + hex(owner->shared.size()) +
                ")");
      return nullptr;
    }
    return owner->shared.data() + offset;
  }
  case Space::Local:
    if (address + bytes <= local[l].size() && address < windowBytes)
      return local[l].data() + address;
    error(Report::Kind::OutOfBounds, inst, l,
          Twine(verb) + " of " + Twine(bytes) + " bytes at local address " +
              hex(original) + ", outside of the thread's " +
              Twine(local[l].size()) + " bytes of local memory");
    return nullptr;
  case Space::Param:
    if (address + bytes <= context->parameters.size() &&
        address < windowBytes && !write)
      return context->parameters.data() + address;
    error(Report::Kind::OutOfBounds, inst, l,
          Twine(verb) + " of " + Twine(bytes) + " bytes at parameter address " +
              hex(original) +
              (write ? ", which is constant"
                     : ", outside of the kernel's parameters"));
    return nullptr;
  }
  error(Report::Kind::InvalidOperation, inst, l, "this space has no memory");
  return nullptr;
}

bool Warp::observe(const Access &access) {
  return !monitor || monitor->access(*this, access);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

Location Warp::locate(const Inst *inst, int lane) const {
  Location where;
  const ModuleSyntax &module = *context->image.module;
  where.kernel = context->image.kernel->name.str();
  where.hasBlock = true;
  where.block = block->index;
  if (lane >= 0) {
    where.hasThread = true;
    uint32_t linear = id * warpSize + lane;
    const Dim3 &shape = context->launch.block;
    where.thread = Dim3{linear % shape.x, linear / shape.x % shape.y,
                        linear / shape.x / shape.y};
  }
  where.ptxFile = module.fileName;
  if (!inst)
    return where;
  where.ptxLine = inst->line;
  llvm::StringRef rest = module.text;
  for (uint32_t i = 1; i < inst->line; ++i)
    rest = rest.split('\n').second;
  where.ptxText = rest.split('\n').first.trim().str();
  if (inst->sourceIndex == 0)
    return where;
  const SourceLine &line = module.sourceLines[inst->sourceIndex - 1];
  where.sourceLine = line.line;
  for (const auto &[number, name] : module.sourceFiles)
    if (number == line.file)
      where.sourceFile = name.str();
  return where;
}

Report Warp::makeReport(Report::Kind kind, const Inst *inst, unsigned lane,
                        const Twine &message) const {
  Report report;
  report.kind = kind;
  report.message = message.str();
  report.where = locate(inst, lane);
  return report;
}

Step Warp::error(Report::Kind kind, const Inst &inst, unsigned lane,
                 const Twine &message) {
  context->fail(block->cluster->number, makeReport(kind, &inst, lane, message));
  return Step::Error;
}

std::string Warp::describePosition(const Split &split) const {
  const Inst *inst = &context->image.code[split.pc];
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "block (" << block->index.x << "," << block->index.y << ","
     << block->index.z << ") warp " << id << " lanes "
     << llvm::format_hex(split.mask, 10);
  Location where = locate(inst, -1);
  os << " at line " << inst->line << ": " << where.ptxText;
  if (where.sourceLine)
    os << " (" << where.sourceFile << ":" << where.sourceLine << ")";
  if (split.converge)
    os << " [waits for other lanes of its warp]";
  return text;
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

Frame *Warp::newFrame(const FunctionCode &code, LaneMask lanes, Frame *parent) {
  Frame *result = nullptr;
  for (size_t i = 0; i < freeFrames.size() && !result; ++i) {
    if (freeFrames[i]->capacity < code.frameBytes)
      continue;
    result = freeFrames[i];
    freeFrames.erase(freeFrames.begin() + i);
  }
  if (!result) {
    frames.push_back(std::make_unique<Frame>());
    result = frames.back().get();
    result->capacity = std::max<uint32_t>(code.frameBytes, 256);
    result->storage = std::make_unique<uint8_t[]>(result->capacity + 64);
    result->registers = reinterpret_cast<uint8_t *>(
        llvm::alignTo(reinterpret_cast<uintptr_t>(result->storage.get()), 64));
  }
  std::memset(result->registers, 0, code.frameBytes);
  result->parent = parent;
  result->code = &code;
  result->lanes = lanes;
  result->depth = parent ? parent->depth + 1 : 0;
  result->localBase = result->localEnd = parent ? parent->localEnd : 0;
  growLocal(*result, lanes, code.localBytes);
  if (monitor)
    monitor->startFrame(*this, *result);
  return result;
}

bool Warp::growLocal(Frame &grown, LaneMask lanes, uint64_t bytes) {
  if (grown.localEnd + bytes > maximalLocalBytes)
    return false;
  grown.localEnd += bytes;
  for (unsigned l = 0; l < warpSize; ++l)
    if ((lanes >> l & 1) && local[l].size() < grown.localEnd)
      local[l].resize(grown.localEnd);
  return true;
}

void Warp::leaveFrame(Frame *left, LaneMask lanes) {
  left->lanes &= ~lanes;
  if (left->lanes == 0)
    freeFrames.push_back(left);
}

void Warp::start(Block &owner, uint32_t number, LaneMask lanes) {
  block = &owner;
  worker = owner.worker;
  context = &worker->context;
  monitor = worker->monitor.get();
  id = number;
  live = initial = lanes;
  failedPolls = 0;
  lastPolled = 0;
  wrote = false;
  sincePoll = pollLoopLength;
  carry = 0;
  std::fill(clusterPhase, clusterPhase + warpSize, 0);
  jumpsSinceMerge = stickyJumps = 0;
  clock = 0;
  asyncState.reset();
  for (auto &memory : local)
    memory.clear();
  freeFrames.clear();
  for (auto &old : frames)
    freeFrames.push_back(old.get());
  splits.clear();
  Split split;
  split.frame = newFrame(*context->image.functions[0], lanes, nullptr);
  split.mask = lanes;
  split.pc = context->image.functions[0]->entry;
  splits.push_back(split);

  banks[Operand::Constants] =
      reinterpret_cast<uint8_t *>(context->constants.data());
  if (!specials) {
    specials = std::make_unique<uint8_t[]>(specialBankBytes);
    banks[Operand::Specials] = specials.get();
  }
  auto set = [&](Special special, auto value) {
    auto *slot =
        reinterpret_cast<uint32_t *>(specials.get() + specialOffset(special));
    for (unsigned l = 0; l < warpSize; ++l)
      slot[l] = value(l);
  };
  auto setAll = [&](Special special, uint32_t value) {
    set(special, [&](unsigned) { return value; });
  };
  auto setDim = [&](Special first, const Dim3 &dim) {
    setAll(first, dim.x);
    setAll(Special(unsigned(first) + 1), dim.y);
    setAll(Special(unsigned(first) + 2), dim.z);
  };
  const Dim3 &shape = context->launch.block;
  uint32_t first = id * warpSize;
  set(Special::TidX, [&](unsigned l) { return (first + l) % shape.x; });
  set(Special::TidY,
      [&](unsigned l) { return (first + l) / shape.x % shape.y; });
  set(Special::TidZ,
      [&](unsigned l) { return (first + l) / shape.x / shape.y; });
  setDim(Special::NtidX, shape);
  setDim(Special::CtaidX, owner.index);
  setDim(Special::NctaidX, context->launch.grid);
  set(Special::LaneId, [&](unsigned l) { return l; });
  setAll(Special::WarpId, id);
  setAll(Special::NwarpId, owner.numWarps);
  const Dim3 &grid = context->launch.grid;
  uint64_t linear =
      owner.index.x +
      uint64_t(grid.x) * (owner.index.y + uint64_t(grid.y) * owner.index.z);
  setAll(Special::SmId, linear % context->options.multiprocessors);
  setAll(Special::NsmId, context->options.multiprocessors);
  set(Special::LanemaskEq, [&](unsigned l) { return 1u << l; });
  set(Special::LanemaskLe, [&](unsigned l) { return ~0u >> (31 - l); });
  set(Special::LanemaskLt, [&](unsigned l) { return (1u << l) - 1; });
  set(Special::LanemaskGe, [&](unsigned l) { return ~0u << l; });
  set(Special::LanemaskGt, [&](unsigned l) { return ~1u << l; });
  const Dim3 &cluster = context->clusterShape;
  setDim(Special::ClusterIdX, owner.cluster->index);
  setDim(Special::NclusterIdX, context->clusterGrid);
  setDim(Special::ClusterCtaidX,
         Dim3{owner.index.x % cluster.x, owner.index.y % cluster.y,
              owner.index.z % cluster.z});
  setDim(Special::ClusterNctaidX, cluster);
  setAll(Special::ClusterCtaRank, owner.rank);
  setAll(Special::ClusterNctaRank, cluster.count());
  uint32_t dynamic = context->launch.dynamicSharedBytes;
  setAll(Special::TotalSmemSize, owner.shared.size());
  setAll(Special::DynamicSmemSize, dynamic);
  setAll(Special::ReservedSmemOffsetBegin, 0);
  setAll(Special::ReservedSmemOffsetEnd, reservedSharedBytes);
  setAll(Special::IsExplicitCluster, cluster.count() > 1 ? ~0u : 0);
  auto *grids = reinterpret_cast<uint64_t *>(specials.get() +
                                             specialOffset(Special::GridId));
  std::fill(grids, grids + warpSize, context->gridNumber);
}

Step Warp::call(const Inst &inst, LaneMask lanes, uint32_t function) {
  const FunctionCode &code = *context->image.functions[function];
  if (frame->depth + 1 >= maximalCallDepth)
    return error(Report::Kind::InvalidOperation, inst, llvm::countr_zero(lanes),
                 "calls are nested deeper than " + Twine(maximalCallDepth));
  if (uint64_t(frame->localEnd) + code.localBytes > maximalLocalBytes)
    return error(Report::Kind::InvalidOperation, inst, llvm::countr_zero(lanes),
                 "the thread's stack overflows");
  Frame *entered = newFrame(code, lanes, frame);
  entered->returnPc = pc + 1;
  entered->call = &inst;
  uint32_t target = code.entry;
  if (lanes != mask) {
    Split rest;
    rest.pc = pc + 1;
    rest.mask = mask & ~lanes;
    rest.frame = frame;
    splits.push_back(rest);
  }
  mask = lanes;
  frame = entered;
  banks[Operand::Registers] = frame->registers;
  pc = target;
  return Step::Jump;
}

/// Takes the lanes back to the caller; the results were copied.
Step Warp::returnFrom(LaneMask lanes) {
  Frame *left = frame;
  uint32_t target = left->returnPc;
  if (lanes != mask) {
    Split rest;
    rest.pc = pc + 1;
    rest.mask = mask & ~lanes;
    rest.frame = frame;
    splits.push_back(rest);
  }
  mask = lanes;
  frame = left->parent;
  leaveFrame(left, lanes);
  banks[Operand::Registers] = frame->registers;
  pc = target;
  return Step::Jump;
}

void Warp::exitLanes(LaneMask lanes) {
  live &= ~lanes;
  for (Frame *f = frame; f;) {
    Frame *parent = f->parent;
    leaveFrame(f, lanes);
    f = parent;
  }
  // Who waited for these lanes need not any more.
  for (Split &split : splits)
    split.converge = false;
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

void Warp::branch(LaneMask taken, uint32_t target) {
  if (taken == mask) {
    pc = target;
    return;
  }
  if (taken == 0) {
    ++pc;
    return;
  }
  Split other;
  other.pc = target;
  other.mask = taken;
  other.frame = frame;
  splits.push_back(other);
  mask &= ~taken;
  ++pc;
  if (monitor)
    ++worker->stats.divergentBranches;
}

/// Takes the lanes of `m` out of the running split into one of its own.  The
/// others go on behind the instruction; false if there are none.
bool Warp::divert(LaneMask m, const Split &split) {
  if (m == mask) {
    splits[current] = split;
    return false;
  }
  splits.push_back(split);
  mask &= ~m;
  ++pc;
  return true;
}

void Warp::saveCurrent() {
  Split &split = splits[current];
  split.pc = pc;
  split.mask = mask;
  split.frame = frame;
}

/// Joins the splits that are at the same position of the same frame.
void Warp::merge() {
  for (size_t i = 0; i < splits.size(); ++i) {
    if (splits[i].wait.poll)
      continue;
    for (size_t j = i + 1; j < splits.size();) {
      if (splits[j].wait.poll || splits[j].pc != splits[i].pc ||
          splits[j].frame != splits[i].frame) {
        ++j;
        continue;
      }
      splits[i].mask |= splits[j].mask;
      splits[i].converge = false;
      splits.erase(splits.begin() + j);
      jumpsSinceMerge = 0;
    }
  }
}

/// Chooses the split to run; false if none can.
bool Warp::select() {
  for (Split &split : splits) {
    if (!split.wait.poll)
      continue;
    banks[Operand::Registers] = split.frame->registers;
    if (split.wait.poll(*this, split)) {
      split.wait = Wait();
      ++split.pc;
    }
  }
  if (splits.size() > 1)
    merge();
  const Split *best = nullptr;
  bool turn = jumpsSinceMerge >= jumpsBeforeTurn && splits.size() > 1;
  for (const Split &split : splits) {
    if (split.wait.poll || split.converge)
      continue;
    if (!best) {
      best = &split;
      continue;
    }
    if (turn) {
      if (split.lastRun < best->lastRun)
        best = &split;
    } else if (split.frame->depth > best->frame->depth ||
               (split.frame->depth == best->frame->depth &&
                split.pc < best->pc)) {
      best = &split;
    }
  }
  if (!best)
    return false;
  if (turn) {
    jumpsSinceMerge = 0;
    stickyJumps = jumpsInTurn;
  }
  current = best - splits.data();
  splits[current].lastRun = ++clock;
  pc = best->pc;
  mask = best->mask;
  frame = best->frame;
  banks[Operand::Registers] = frame->registers;
  limit = ~0u;
  for (const Split &split : splits)
    if (&split != best && split.frame == frame && !split.wait.poll &&
        split.pc > pc)
      limit = std::min(limit, split.pc);
  return true;
}

Warp::Result Warp::run(uint64_t quantum) {
  const Inst *code = context->image.code.data();
  Result result = Result::Preempted;
  uint64_t executed = 0;
  while (true) {
    if (live == 0) {
      result = Result::Done;
      break;
    }
    if (!select()) {
      result = Result::Blocked;
      break;
    }
    bool reselect = false;
    while (!reselect) {
      if (LLVM_UNLIKELY(pc == limit)) {
        saveCurrent();
        break;
      }
      const Inst &inst = code[pc];
      LaneMask m = mask;
      if (inst.hasGuard) {
        LaneMask guard =
            *reinterpret_cast<const LaneMask *>(banks[0] + inst.guard);
        m &= inst.guardNegated ? ~guard : guard;
        if (m == 0 && !inst.handlesGuard) {
          ++pc;
          continue;
        }
      }
      ++executed;
      if (LLVM_UNLIKELY(monitor != nullptr) && !monitor->before(*this, inst, m))
        return Result::Failed;
      Step step = inst.handler(*this, inst, m);
      if (LLVM_LIKELY(step == Step::Next)) {
        ++pc;
        continue;
      }
      switch (step) {
      case Step::Next:
        break;
      case Step::Jump:
        if (executed >= quantum) {
          saveCurrent();
          context->instructions.fetch_add(executed, std::memory_order_relaxed);
          // A short turn within a loop that polls gains nothing.
          sincePoll += executed;
          return sincePoll < pollLoopLength ? Result::Yielded
                                            : Result::Preempted;
        }
        if (splits.size() > 1) {
          ++jumpsSinceMerge;
          saveCurrent();
          if (stickyJumps > 0 && pc != limit) {
            --stickyJumps;
            limit = ~0u;
            for (const Split &split : splits)
              if (&split != &splits[current] && split.frame == frame &&
                  !split.wait.poll && split.pc >= pc)
                limit = std::min(limit, split.pc);
            continue;
          }
          reselect = true;
        }
        break;
      case Step::Wait: {
        Split waiting{pc, m, frame, wait, false, clock};
        reselect = true;
        if (divert(m, waiting))
          saveCurrent();
        break;
      }
      case Step::Converge: {
        Split waiting{pc, m, frame, Wait(), true, clock};
        reselect = true;
        if (divert(m, waiting))
          saveCurrent();
        break;
      }
      case Step::Yield:
        ++pc;
        saveCurrent();
        sincePoll = 0;
        failedPolls = 0;
        if (splits.size() > 1) {
          jumpsSinceMerge = jumpsBeforeTurn;
        }
        context->instructions.fetch_add(executed, std::memory_order_relaxed);
        return Result::Yielded;
      case Step::Exit:
        exitLanes(m);
        reselect = true;
        if (m == mask) {
          splits.erase(splits.begin() + current);
        } else {
          mask &= ~m;
          ++pc;
          saveCurrent();
        }
        block->lanesExited();
        break;
      case Step::Error:
        return Result::Failed;
      }
    }
  }
  context->instructions.fetch_add(executed, std::memory_order_relaxed);
  if (result == Result::Blocked && executed > 0)
    result = Result::Paused;
  return result;
}

//===----------------------------------------------------------------------===//
// Instructions that name lanes
//===----------------------------------------------------------------------===//

Step Warp::warpSync(const Inst &inst, LaneMask lanes, const Operand &members,
                    Step (*execute)(Warp &, const Inst &, LaneMask, LaneMask)) {
  const uint32_t *named = source<uint32_t>(members);
  LaneMask left = lanes, waiting = 0;
  while (left) {
    unsigned first = llvm::countr_zero(left);
    uint32_t want = named[first];
    LaneMask group = 0;
    for (unsigned l = first; l < warpSize; ++l)
      if ((left >> l & 1) && named[l] == want)
        group |= LaneMask(1) << l;
    left &= ~group;
    if (group & ~want)
      return error(Report::Kind::InvalidOperation, inst,
                   llvm::countr_zero(group & ~want),
                   "the executing lane is not in the member mask " + hex(want));
    if ((want & live) & ~group) {
      waiting |= group;
      continue;
    }
    if (monitor)
      monitor->warpSync(*this, inst, group);
    Step step = execute(*this, inst, group, want);
    if (step != Step::Next)
      return step;
  }
  if (waiting == 0)
    return Step::Next;
  if (waiting == lanes)
    return Step::Converge;
  // Some groups are done: only the others stay here.
  addSplit(Split{pc, waiting, frame, Wait(), true, clock});
  mask &= ~waiting;
  ++pc;
  return Step::Jump;
}
