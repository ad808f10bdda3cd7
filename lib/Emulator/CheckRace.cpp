//===- CheckRace.cpp - Finds accesses that no synchronisation orders ------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaceState.h"
#include "llvm/ADT/Twine.h"
#include <cstring>
#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace tile_dialect::emulator;
using llvm::Twine;

void ShadowPage::refine(uint64_t offset, uint32_t accessBytes) {
  unsigned needed = (offset | accessBytes) & 1 ? 1 : 2;
  if (((offset | accessBytes) & 3) == 0 || needed >= granule)
    return;
  auto fine = std::make_unique<ShadowCell[]>(bytes / needed);
  for (uint64_t i = 0; i < bytes / needed; ++i)
    fine[i] = cells[i * needed / granule];
  own = std::move(fine);
  cells = own.get();
  granule = needed;
}

ShadowCell *RaceChecker::SharedState::newSlab() {
  constexpr size_t bytes =
      slabPages * ShadowPage::numCells * sizeof(ShadowCell);
  std::error_code error;
  llvm::sys::MemoryBlock block = llvm::sys::Memory::allocateMappedMemory(
      bytes, nullptr, llvm::sys::Memory::MF_READ | llvm::sys::Memory::MF_WRITE,
      error);
  if (error)
    return nullptr;
#ifdef MADV_HUGEPAGE
  madvise(block.base(), bytes, MADV_HUGEPAGE);
#endif
  std::lock_guard<std::mutex> guard(slabLock);
  slabs.emplace_back(block);
  return static_cast<ShadowCell *>(block.base());
}

/// The cells of a page, or null if the host has no memory left for a slab.
ShadowCell *RaceChecker::takeCells() {
  if (numFreePages == 0) {
    freeCells =
        static_cast<SharedState *>(context.monitorState.get())->newSlab();
    if (!freeCells)
      return nullptr;
    numFreePages = SharedState::slabPages;
  }
  --numFreePages;
  ShadowCell *cells = freeCells;
  freeCells += ShadowPage::numCells;
  return cells;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// Two plain writes of the same value are no race that can be seen: replicated
/// tensors are stored so.  The other value is in memory, or in a lane that
/// executes the same instruction.
bool RaceChecker::writesSameValue(const Current &current, uint64_t address,
                                  uint32_t bytes, const ShadowCell &cell,
                                  uint32_t instIndex) const {
  const Access *access = current.access;
  if (!access || !access->values)
    return false;
  auto beginOf = [&](unsigned lane) {
    return placeOf(current.warp, access->space, access->addresses[lane])
        .address;
  };
  auto byteOf = [&](unsigned lane, uint64_t offset) {
    const Operand &value = access->values[offset / access->elementBytes];
    return current.warp.source<uint8_t>(
        value)[lane * value.bytes + offset % access->elementBytes];
  };
  unsigned other = cell.write.lane();
  uint64_t begin = beginOf(current.lane), otherBegin = 0;
  bool isSameExecution = cell.write.isSameTime(current.stamp) &&
                         cell.writeInst() == instIndex &&
                         other < current.lane && (access->mask >> other & 1);
  if (isSameExecution) {
    otherBegin = beginOf(other);
    isSameExecution =
        otherBegin <= address && address + bytes <= otherBegin + access->bytes;
  }
  const uint8_t *memory = nullptr;
  if (!isSameExecution) {
    memory = current.isShared ? current.owner->shared.data() + address
                              : worker.global(address, bytes, false);
    if (!memory)
      return false;
  }
  for (uint32_t i = 0; i < bytes; ++i) {
    uint8_t before =
        memory ? memory[i] : byteOf(other, address + i - otherBegin);
    if (byteOf(current.lane, address + i - begin) != before)
      return false;
  }
  return true;
}

/// Where the other access of a race was.
Location RaceChecker::locateOther(const Current &current, Stamp other,
                                  const Inst &inst) const {
  Location where = current.warp.locate(&inst, -1);
  const Dim3 &shape = context.clusterShape, &grid = context.clusterGrid;
  uint32_t warpsPerBlock = current.state.warpsPerBlock;
  uint32_t actor = other.actor();
  if (other.cluster() == current.state.number)
    actor = current.state.warpOf(actor);
  uint32_t rank = actor / warpsPerBlock;
  uint64_t cluster = other.cluster();
  where.block = Dim3{
      uint32_t(cluster % grid.x) * shape.x + rank % shape.x,
      uint32_t(cluster / grid.x % grid.y) * shape.y + rank / shape.x % shape.y,
      uint32_t(cluster / grid.x / grid.y) * shape.z + rank / shape.x / shape.y};
  const Dim3 &block = context.launch.block;
  uint32_t linear = actor % warpsPerBlock * warpSize + other.lane();
  where.hasThread = true;
  where.thread = Dim3{linear % block.x, linear / block.x % block.y,
                      linear / block.x / block.y};
  return where;
}

static const char *verbOf(bool isStrong, bool writes, bool isAsync) {
  if (isAsync)
    return "an asynchronous write";
  if (isStrong)
    return writes ? "a strong write" : "a strong read";
  return writes ? "a write" : "a read";
}

void RaceChecker::reportRace(const Current &current, uint64_t address,
                             Stamp other, uint32_t otherInst,
                             bool otherWrites) {
  Warp &warp = current.warp;
  const char *space = current.isShared ? "shared" : "global";
  std::string verb =
      current.verb ? current.verb
      : current.isAtomic
          ? "an atomic access"
          : verbOf(current.scope != MemoryScope::None, current.writes, false);
  const Inst &first = context.image.code[otherInst];
  bool isAsync = other.cluster() == current.state.number &&
                 other.actor() >= current.state.numWarps;
  std::string otherVerb = first.instructionClass == InstructionClass::Atomic
                              ? "an atomic access"
                              : verbOf(other.isStrong(), otherWrites, isAsync);
  Report report = warp.makeReport(
      Report::Kind::Race, &current.inst, current.lane,
      Twine(verb) + " of " + space + " memory is not ordered with " +
          otherVerb + " at line " + Twine(first.line));
  Location where = locateOther(current, other, first);
  std::string place = std::to_string(address);
  if (current.isShared && current.owner != warp.block) {
    const Dim3 &index = current.owner->index;
    place += " of block (" + std::to_string(index.x) + "," +
             std::to_string(index.y) + "," + std::to_string(index.z) + ")";
  }
  if (const Allocation *buffer =
          current.isShared ? nullptr : context.memory.find(address))
    place += " ('" + buffer->name + "' + " +
             std::to_string(address - buffer->base) + " bytes)";
  report.notes.push_back((Twine(space) + " address " + place + "; " +
                          otherVerb + " by " + where.str() + ": " +
                          where.ptxText)
                             .str());
  if (where.sourceLine)
    report.notes.push_back("the other one is from " + where.sourceFile + ":" +
                           std::to_string(where.sourceLine));
  if (current.scope != MemoryScope::None && other.isStrong())
    report.notes.push_back("both are strong, but the scope of one does not "
                           "include the other's thread");
  context.report(warp.block->cluster->number, std::move(report));
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Looks for what a write conflicts with; false after a report.
bool RaceChecker::checkWrite(const Current &current, const ShadowPage &page,
                             unsigned index, uint64_t address,
                             uint32_t instIndex) {
  const ShadowCell &cell = page.cells[index];
  if (!isWriteOrdered(current, cell) &&
      (current.isAtomic ||
       !writesSameValue(current, address, page.granule, cell, instIndex))) {
    reportRace(current, address, cell.write, cell.writeInst(), true);
    return false;
  }
  for (unsigned r = 0; r < 2; ++r)
    if (!isOrdered(current, cell.reads[r])) {
      reportRace(current, address, cell.reads[r], cell.readInst(r), false);
      return false;
    }
  if (page.moreReads.empty())
    return true;
  auto more = page.moreReads.find(index);
  if (more == page.moreReads.end())
    return true;
  for (const ShadowPage::Reader &reader : more->second)
    if (!isOrdered(current, reader.stamp)) {
      reportRace(current, address, reader.stamp, reader.inst, false);
      return false;
    }
  return true;
}

void RaceChecker::noteRead(const Current &current, ShadowPage &page,
                           unsigned index, uint32_t instIndex) {
  ShadowCell &cell = page.cells[index];
  if (cell.reads[0] && !cell.reads[0].isSameActor(current.stamp)) {
    Stamp lost = cell.reads[1];
    // In global memory two readers are enough: where more read, nearly all of
    // them are unordered with a writer.
    if (current.isShared && lost && !lost.isSameActor(current.stamp) &&
        !isOrdered(current, lost)) {
      auto &list = page.moreReads[index];
      auto *it = llvm::find_if(list, [&](const ShadowPage::Reader &reader) {
        return reader.stamp.isSameActor(lost);
      });
      if (it == list.end())
        list.push_back({lost, cell.readInst(1)});
      else
        *it = {lost, cell.readInst(1)};
    }
    cell.setRead(1, cell.reads[0], cell.readInst(0));
  }
  cell.setRead(0, current.stamp, instIndex);
}

/// Checks and marks bytes that lie within one page.
void RaceChecker::touch(const Current &current, ShadowPage &page,
                        uint64_t address, uint32_t bytes) {
  uint64_t offset = address % ShadowPage::bytes;
  page.refine(offset, bytes);
  unsigned granule = page.granule;
  uint32_t instIndex = &current.inst - context.image.code.data();
  bool reported = false;
  for (uint32_t i = 0; i < bytes; i += granule) {
    unsigned index = (offset + i) / granule;
    ShadowCell &cell = page.cells[index];
    if (current.writes) {
      if (!reported)
        reported = !checkWrite(current, page, index, address + i, instIndex);
      if (current.onlyChecks)
        continue;
      cell.setWrite(current.stamp, instIndex);
      if (!page.moreReads.empty())
        page.moreReads.erase(index);
      continue;
    }
    // What the warp has just read is known to be fine.
    if (cell.reads[0].isSameTime(current.stamp) &&
        !cell.write.isSameActor(current.stamp)) {
      if (!current.onlyChecks)
        cell.reads[0] = current.stamp;
      continue;
    }
    if (!reported && !isWriteOrdered(current, cell)) {
      reportRace(current, address + i, cell.write, cell.writeInst(), true);
      reported = true;
    }
    if (!current.onlyChecks)
      noteRead(current, page, index, instIndex);
  }
}

void RaceChecker::touchShared(Current &current, Block &owner, uint32_t offset,
                              uint32_t bytes) {
  current.isShared = true;
  current.owner = &owner;
  auto &pages = current.state.blocks[owner.rank].pages;
  while (bytes > 0) {
    uint32_t inPage = std::min<uint64_t>(bytes, ShadowPage::bytes -
                                                    offset % ShadowPage::bytes);
    size_t index = offset / ShadowPage::bytes;
    if (index >= pages.size())
      return;
    if (!pages[index])
      pages[index] = std::make_unique<ShadowPage>();
    touch(current, *pages[index], offset, inPage);
    offset += inPage;
    bytes -= inPage;
  }
}

void RaceChecker::touchGlobal(Current &current, GlobalCursor &cursor,
                              uint64_t address, uint32_t bytes) {
  current.isShared = false;
  auto &shared = *static_cast<SharedState *>(context.monitorState.get());
  while (bytes > 0) {
    uint32_t inPage = std::min<uint64_t>(
        bytes, ShadowPage::bytes - address % ShadowPage::bytes);
    uint64_t index = address / ShadowPage::bytes;
    if (index != cursor.index) {
      auto &shard = shared.shardOf(address);
      if (cursor.lock.mutex() != &shard.lock) {
        // Never two of them: another thread may hold them in another order.
        if (cursor.lock.owns_lock())
          cursor.lock.unlock();
        cursor.lock = std::unique_lock<std::mutex>(shard.lock);
      }
      std::unique_ptr<ShadowPage> &page = shard.pages[index];
      if (!page) {
        ShadowCell *cells = takeCells();
        page = cells ? std::make_unique<ShadowPage>(cells)
                     : std::make_unique<ShadowPage>();
      }
      cursor.index = index;
      cursor.page = page.get();
    }
    touch(current, *cursor.page, address, inPage);
    address += inPage;
    bytes -= inPage;
  }
}

/// The lanes of an access that lie in shared or global memory.
template <typename F>
static void eachPlace(Warp &warp, const Access &access, F visit) {
  for (unsigned l = 0; l < warpSize; ++l) {
    if (!(access.mask >> l & 1))
      continue;
    Place place{access.space, warp.block, access.addresses[l]};
    if (access.space != Space::Global &&
        (access.space != Space::Shared || place.address >> sharedRankShift))
      place = placeOf(warp, access.space, access.addresses[l]);
    if (place.space != Space::Shared && place.space != Space::Global)
      continue;
    // What is out of bounds is reported by the access itself.
    if (place.space == Space::Shared &&
        (!place.block ||
         place.address + access.bytes > place.block->shared.size()))
      continue;
    visit(l, place);
  }
}

void RaceChecker::access(Warp &warp, const Access &access) {
  ClusterState &state = stateOf(*warp.block);
  Current current{warp, *access.inst, state, actorOf(warp)};
  current.writes = access.kind != AccessKind::Read;
  current.isAtomic = access.kind == AccessKind::Atomic;
  current.scope = access.scope;
  current.access = access.async ? nullptr : &access;
  bool isStrong = access.scope != MemoryScope::None;
  strong.lanes = 0;
  if (isStrong) {
    strong.scope = access.scope;
    strong.order = access.order;
    strong.bytes = access.bytes;
    strong.elementBytes =
        access.elementBytes ? access.elementBytes : access.bytes;
    eachPlace(warp, access, [&](unsigned l, const Place &place) {
      strong.acquired[l] = nullptr;
      if (access.kind == AccessKind::Write)
        return;
      strong.lanes |= LaneMask(1) << l;
      strong.places[l] = place;
      eachElement(
          place, strong.bytes, strong.elementBytes,
          [&](const Place &element) { acquireStrong(warp, l, element); });
    });
  }
  {
    GlobalCursor cursor;
    eachPlace(warp, access, [&](unsigned l, const Place &place) {
      current.lane = l;
      current.stamp =
          Stamp(state.number, current.actor, l, state.clock, access.scope);
      if (place.space == Space::Global)
        return touchGlobal(current, cursor, place.address, access.bytes);
      touchShared(current, *place.block, place.address, access.bytes);
      noteRemote(current, *place.block);
    });
  }
  if (isStrong && access.kind != AccessKind::Read)
    eachPlace(warp, access, [&](unsigned l, const Place &place) {
      current.lane = l;
      eachElement(
          place, strong.bytes, strong.elementBytes,
          [&](const Place &element) { releaseStrong(current, element); });
    });
}

//===----------------------------------------------------------------------===//
// Asynchronous accesses
//===----------------------------------------------------------------------===//

/// The issue of an asynchronous access: it must be ordered with what was
/// before.
void RaceChecker::asyncStart(Warp &warp, const AsyncAccess &access) {
  ClusterState &state = stateOf(*warp.block);
  Current current{warp, *access.inst, state, actorOf(warp)};
  current.lane = access.lane;
  current.writes = access.writes;
  current.verb =
      access.writes ? "an asynchronous write" : "an asynchronous read";
  current.onlyChecks = access.writes || access.onlyChecks;
  current.stamp = Stamp(state.number, current.actor, access.lane, state.clock,
                        MemoryScope::None);
  for (auto [offset, bytes] : access.ranges)
    touchShared(current, *access.block, offset, bytes);
  // Until its issuer has waited for it, a write of global memory is ordered
  // before nothing.
  current.scope = access.scope;
  current.onlyChecks = false;
  GlobalCursor cursor;
  for (auto [address, bytes] : access.globalRanges) {
    current.stamp =
        Stamp(state.number, current.actor, access.lane,
              access.writes ? Stamp::pending : state.clock, access.scope);
    touchGlobal(current, cursor, address, bytes);
  }
}

/// From here on the write is one of the issuing thread.
void RaceChecker::asyncAwaited(Warp &warp, const AsyncAccess &access) {
  ClusterState &state = stateOf(*warp.block);
  Current current{warp, *access.inst, state, actorOf(warp)};
  current.lane = access.lane;
  current.writes = true;
  current.scope = access.scope;
  current.stamp = Stamp(state.number, current.actor, access.lane, state.clock,
                        access.scope);
  GlobalCursor cursor;
  for (auto [address, bytes] : access.globalRanges)
    touchGlobal(current, cursor, address, bytes);
}

/// What was written is there for those who wait for its mbarrier.
void RaceChecker::asyncDone(Warp &warp, const AsyncAccess &access) {
  if (!access.writes)
    return;
  ClusterState &state = stateOf(*warp.block);
  uint32_t actor = actorOf(warp);
  ClusterState::Mbarrier *barrier = nullptr;
  if (access.hasMbarrier) {
    barrier = &state.mbarriers[{access.block->rank, access.mbarrier}];
    uint32_t engine = state.numWarps + state.issuers.size();
    if (!barrier->engine && engine < Stamp::maximalActors) {
      barrier->engine = engine;
      state.issuers.push_back(actor);
    }
    if (barrier->engine) {
      state.issuers[barrier->engine - state.numWarps] = actor;
      actor = barrier->engine;
    }
  }
  Stamp stamp(state.number, actor, access.lane, state.clock, MemoryScope::None);
  uint32_t instIndex = access.inst - context.image.code.data();
  auto &pages = state.blocks[access.block->rank].pages;
  for (auto [offset, bytes] : access.ranges)
    for (uint32_t i = offset; i < offset + bytes;) {
      std::unique_ptr<ShadowPage> &page = pages[i / ShadowPage::bytes];
      if (!page)
        page = std::make_unique<ShadowPage>();
      unsigned index = i % ShadowPage::bytes / page->granule;
      page->cells[index].setWrite(stamp, instIndex);
      page->moreReads.erase(index);
      i += page->granule;
    }
  if (barrier)
    barrier->arriving.own.set(actor, state.clock++);
}

//===----------------------------------------------------------------------===//
// Memory of blocks that end
//===----------------------------------------------------------------------===//

static std::string mayHaveEnded(const Block &owner) {
  return ("an access of the shared memory of block (" + Twine(owner.index.x) +
          "," + Twine(owner.index.y) + "," + Twine(owner.index.z) +
          "), which may have ended: nothing orders it before the block's end")
      .str();
}

/// Shared memory of another block may be accessed until that block ends.
void RaceChecker::noteRemote(const Current &current, Block &owner) {
  if (&owner == current.warp.block)
    return;
  ClusterState::BlockState &state = current.state.blocks[owner.rank];
  if (state.hasExited) {
    context.report(current.warp.block->cluster->number,
                   current.warp.makeReport(Report::Kind::Race, &current.inst,
                                           current.lane, mayHaveEnded(owner)));
    return;
  }
  state.remote.resize(current.state.numWarps);
  state.remote[current.actor] = {
      current.state.clock, uint32_t(&current.inst - context.image.code.data()),
      current.lane};
}

void RaceChecker::blockExited(Block &block) {
  ClusterState &state = stateOf(block);
  ClusterState::BlockState &own = state.blocks[block.rank];
  own.hasExited = true;
  for (uint32_t actor = 0; actor < own.remote.size(); ++actor) {
    const ClusterState::Remote &last = own.remote[actor];
    bool isKnown = last.clock == 0;
    for (uint32_t w = 0; w < block.numWarps && !isKnown; ++w)
      isKnown = state.actors[actorOf(*block.warps[w])].knows.own.get(actor) >=
                last.clock;
    if (isKnown)
      continue;
    Block &other = *block.cluster->blocks[actor / state.warpsPerBlock];
    Warp &warp = *other.warps[actor % state.warpsPerBlock];
    context.report(block.cluster->number,
                   warp.makeReport(Report::Kind::Race,
                                   &context.image.code[last.inst], last.lane,
                                   mayHaveEnded(block)));
  }
}
