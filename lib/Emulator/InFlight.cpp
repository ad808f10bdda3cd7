//===- InFlight.cpp - Checks of asynchronous accesses ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"
#include "AsyncState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile_dialect::emulator;
using llvm::Twine;

void InFlightList::end() {
  for (auto [owner, id] : entries)
    owner->end(id);
  entries.clear();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static void reportConflict(Warp &warp, const Inst &inst, unsigned lane,
                           uint32_t offset, bool writes, bool isAsync,
                           const InFlight::Entry &other) {
  Report report = warp.makeReport(
      Report::Kind::Race, &inst, lane,
      Twine(isAsync ? "asynchronous " : "") + (writes ? "write" : "read") +
          " of shared memory at 0x" + llvm::utohexstr(offset, true) +
          ", which an asynchronous operation in flight " +
          (other.writes ? "writes" : "reads"));
  report.notes.push_back("in flight since line " +
                         std::to_string(other.where.ptxLine) + ": " +
                         other.where.ptxText + " in " + other.where.str());
  if (other.where.sourceLine)
    report.notes.push_back("the other one is from " + other.where.sourceFile +
                           ":" + std::to_string(other.where.sourceLine));
  warp.context->report(warp.block->cluster->number, std::move(report));
}

const InFlight::Entry *InFlight::conflict(uint32_t offset, uint32_t bytes,
                                          bool writes) const {
  if (numLive == 0)
    return nullptr;
  for (uint32_t c = offset / cellBytes, e = (offset + bytes - 1) / cellBytes;
       c <= e && c < cells.size(); ++c) {
    const Cell &cell = cells[c];
    if (cell.numWriters)
      return &entries[cell.writer - 1];
    if (writes && cell.numReaders)
      return &entries[cell.reader - 1];
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Proxy fences
//===----------------------------------------------------------------------===//

void InFlight::noteStore(uint32_t offset, uint32_t bytes, uint32_t thread) {
  storedSinceBarrier = true;
  for (uint32_t c = offset / cellBytes, e = (offset + bytes - 1) / cellBytes;
       c <= e && c < cells.size(); ++c) {
    cells[c].storer = thread + 1;
    cells[c].storeTime = time;
  }
}

void InFlight::noteFence(uint32_t thread) {
  if (fenceTimes.size() <= thread)
    fenceTimes.resize(thread + 1, 0);
  fenceTimes[thread] = lastFence = ++time;
}

void InFlight::noteBarrier() {
  if (storedSinceBarrier)
    barrierTimes.push_back(++time);
  storedSinceBarrier = false;
}

bool InFlight::isFenced(const Cell &cell) const {
  if (cell.storer == 0)
    return true;
  uint32_t thread = cell.storer - 1;
  if (thread < fenceTimes.size() && fenceTimes[thread] > cell.storeTime)
    return true;
  auto barrier = llvm::upper_bound(barrierTimes, cell.storeTime);
  return barrier != barrierTimes.end() && *barrier < lastFence;
}

void InFlight::checkProxyFence(Warp &warp, const Inst &inst, unsigned lane,
                               llvm::ArrayRef<Range> ranges) {
  for (const Range &range : ranges) {
    for (uint32_t c = range.first / cellBytes,
                  e = (range.first + range.second + cellBytes - 1) / cellBytes;
         c < e && c < cells.size(); ++c) {
      if (isFenced(cells[c]))
        continue;
      Report report = warp.makeReport(
          Report::Kind::Race, &inst, lane,
          "asynchronous read of shared memory at 0x" +
              llvm::utohexstr(c * cellBytes, true) + ", which thread " +
              Twine(cells[c].storer - 1) +
              " of the block has written without a fence.proxy.async between");
      warp.context->report(warp.block->cluster->number, std::move(report));
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Operations in flight
//===----------------------------------------------------------------------===//

void InFlight::begin(Warp &warp, const Inst &inst, unsigned lane, bool writes,
                     std::vector<Range> ranges, InFlightList &list,
                     bool boundsBlock) {
  for (const Range &range : ranges) {
    if (range.second == 0)
      continue;
    if (const Entry *other = conflict(range.first, range.second, writes)) {
      reportConflict(warp, inst, lane, range.first, writes, true, *other);
      break;
    }
  }
  if (!writes)
    checkProxyFence(warp, inst, lane, ranges);
  uint32_t id = entries.size();
  if (freeEntries.empty()) {
    entries.emplace_back();
  } else {
    id = freeEntries.back();
    freeEntries.pop_back();
  }
  for (const Range &range : ranges) {
    if (range.second == 0)
      continue;
    for (uint32_t c = range.first / cellBytes,
                  e = (range.first + range.second - 1) / cellBytes;
         c <= e && c < cells.size(); ++c) {
      Cell &cell = cells[c];
      (writes ? cell.writer : cell.reader) = id + 1;
      ++(writes ? cell.numWriters : cell.numReaders);
      if (writes)
        cell.storer = 0;
    }
  }
  Entry &entry = entries[id];
  entry.inst = &inst;
  entry.where = warp.locate(&inst, lane);
  entry.writes = writes;
  entry.boundsBlock = boundsBlock;
  entry.ranges = std::move(ranges);
  ++numLive;
  list.add(*this, id);
}

void InFlight::end(uint32_t id) {
  Entry &entry = entries[id];
  for (const Range &range : entry.ranges) {
    if (range.second == 0)
      continue;
    for (uint32_t c = range.first / cellBytes,
                  e = (range.first + range.second - 1) / cellBytes;
         c <= e && c < cells.size(); ++c)
      --(entry.writes ? cells[c].numWriters : cells[c].numReaders);
  }
  entry.ranges.clear();
  --numLive;
  freeEntries.push_back(id);
}

const InFlight::Entry *InFlight::atExit() const {
  for (const Entry &entry : entries)
    if (entry.boundsBlock && !entry.ranges.empty())
      return &entry;
  return nullptr;
}

void tile_dialect::emulator::checkInFlightAtExit(Block &block) {
  auto *state = static_cast<BlockAsync *>(block.asyncState.get());
  if (!state || !state->inFlight)
    return;
  const InFlight::Entry *entry = state->inFlight->atExit();
  if (!entry)
    return;
  Report report;
  report.kind = Report::Kind::Race;
  report.where = entry->where;
  report.message =
      (Twine("an asynchronous ") + (entry->writes ? "write" : "read") +
       " of the shared memory of block (" + Twine(block.index.x) + "," +
       Twine(block.index.y) + "," + Twine(block.index.z) +
       "), which ends before it has been awaited")
          .str();
  block.worker->context.report(block.cluster->number, std::move(report));
}

void tile_dialect::emulator::noteProxyFence(Warp &warp, LaneMask mask) {
  auto *state = static_cast<BlockAsync *>(warp.block->asyncState.get());
  for (unsigned l = 0; l < warpSize; ++l)
    if (state && state->inFlight && (mask >> l & 1))
      state->inFlight->noteFence(warp.id * warpSize + l);
}

bool tile_dialect::emulator::usesAsyncProxy(const Image &image) {
  return llvm::any_of(image.code, [](const Inst &inst) {
    return inst.instructionClass == InstructionClass::Async ||
           inst.instructionClass == InstructionClass::Matrix;
  });
}

void tile_dialect::emulator::startInFlight(Block &block) { asyncOf(block); }

void tile_dialect::emulator::noteBlockBarrier(Block &block) {
  auto *state = static_cast<BlockAsync *>(block.asyncState.get());
  if (state && state->inFlight)
    state->inFlight->noteBarrier();
}

void tile_dialect::emulator::checkSharedInFlight(Warp &warp,
                                                 const Access &access) {
  if (access.space != Space::Shared && access.space != Space::SharedCluster &&
      access.space != Space::Generic)
    return;
  Cluster &cluster = *warp.block->cluster;
  for (unsigned l = 0; l < warpSize; ++l) {
    if (!(access.mask >> l & 1))
      continue;
    uint64_t address = access.addresses[l];
    if (access.space == Space::Generic) {
      if ((address & ~(windowBytes - 1)) != sharedWindow)
        continue;
      address -= sharedWindow;
    }
    uint32_t rank = uint32_t(address) >> sharedRankShift;
    if (rank > cluster.numBlocks)
      continue;
    Block &owner = rank ? *cluster.blocks[rank - 1] : *warp.block;
    const auto *state = static_cast<BlockAsync *>(owner.asyncState.get());
    if (!state || !state->inFlight)
      continue;
    uint32_t offset = uint32_t(address) & ((1u << sharedRankShift) - 1);
    bool writes = access.kind != AccessKind::Read;
    if (writes && !access.async)
      state->inFlight->noteStore(offset, access.bytes, warp.id * warpSize + l);
    if (const InFlight::Entry *other =
            state->inFlight->conflict(offset, access.bytes, writes)) {
      reportConflict(warp, *access.inst, l, offset, writes, false, *other);
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

void WgmmaRegisters::prepare(Frame *current) {
  size_t size = current->code->frameBytes / 64 + 1;
  if (frame != current || dirty.size() != size) {
    frame = current;
    // Nothing is known to be fenced.
    dirty.assign(size, true);
    accumulators.assign(size, 0);
    sources.assign(size, 0);
    numHeld = 0;
  }
}

void WgmmaRegisters::release(uint64_t group) {
  if (numHeld == 0)
    return;
  numHeld = 0;
  for (auto *list : {&accumulators, &sources})
    for (uint64_t &holder : *list) {
      if (holder && holder <= group)
        holder = 0;
      numHeld += holder != 0;
    }
}

static void reportRegister(Warp &warp, const Inst &inst, LaneMask mask,
                           bool writes, const WgmmaRegisters &registers) {
  Report report = warp.makeReport(
      Report::Kind::Race, &inst, llvm::countr_zero(mask),
      Twine(writes ? "write" : "read") +
          " of a register that a wgmma.mma_async in flight uses; "
          "wgmma.wait_group must come first");
  if (registers.lastWgmma)
    report.notes.push_back("last wgmma: " +
                           warp.locate(registers.lastWgmma, -1).str());
  warp.context->report(warp.block->cluster->number, std::move(report));
}

void tile_dialect::emulator::checkRegistersInFlight(Warp &warp,
                                                    const Inst &inst,
                                                    LaneMask mask) {
  auto *state = static_cast<WarpAsync *>(warp.asyncState.get());
  if (!state || !state->registers || !state->registers->usesWgmma ||
      mask == 0 || inst.instructionClass == InstructionClass::Matrix)
    return;
  WgmmaRegisters &registers = *state->registers;
  if (registers.frame != warp.frame)
    return;
  // Copies of accumulators in flight are what compilers leave to ptxas, which
  // removes them: the copy is in flight then.
  bool isCopy = inst.instructionClass == InstructionClass::Move &&
                inst.numOperands == 2 && inst.numDestinations == 1;
  uint64_t copied = 0;
  bool copiesClean = false;
  for (unsigned i = inst.numOperands; i-- > 0;) {
    const Operand &operand = inst.operands[i];
    if (operand.bank != Operand::Registers)
      continue;
    size_t slot = operand.offset / 64;
    if (slot >= registers.dirty.size() || operand.bytes == 0)
      continue;
    bool writes = i < inst.numDestinations;
    uint64_t holder = registers.accumulators[slot];
    if (writes) {
      if (holder || registers.sources[slot]) {
        reportRegister(warp, inst, mask, true, registers);
        registers.accumulators[slot] = registers.sources[slot] = 0;
      }
      registers.dirty[slot] = !copiesClean;
      if (copied) {
        registers.accumulators[slot] = copied;
        ++registers.numHeld;
      }
    } else if (isCopy) {
      copied = holder;
      copiesClean = !registers.dirty[slot];
    } else if (holder) {
      reportRegister(warp, inst, mask, false, registers);
      registers.accumulators[slot] = 0;
    }
  }
}
