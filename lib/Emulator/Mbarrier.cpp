//===- Mbarrier.cpp - mbarrier objects in shared memory ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mbarrier.h"
#include "AsyncState.h"
#include "Monitor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace tile_dialect::emulator;
using llvm::Twine;

static constexpr unsigned txBits = 22;
static constexpr uint64_t countMask = MbarrierState::maximalCount;

uint64_t MbarrierState::encode() const {
  return uint64_t(1) << 63 | uint64_t(phase) << 62 | uint64_t(pending) << 42 |
         uint64_t(expected) << txBits |
         (uint64_t(transactions) & ((1u << txBits) - 1));
}

bool MbarrierState::decode(uint64_t bits, MbarrierState &state) {
  state.phase = bits >> 62 & 1;
  state.pending = bits >> 42 & countMask;
  state.expected = bits >> txBits & countMask;
  state.transactions = llvm::SignExtend64<txBits>(bits);
  return bits >> 63;
}

static std::string placeText(const SharedPlace &place) {
  return "the mbarrier at shared address 0x" +
         llvm::utohexstr(place.offset, true);
}

static bool fail(const MbarrierUser &user, const Twine &message) {
  user.warp.error(Report::Kind::InvalidOperation, user.inst, user.lane,
                  message);
  return false;
}

static bool load(const MbarrierUser &user, const SharedPlace &place,
                 MbarrierState &state, MbarrierEntry *&entry) {
  auto &known = asyncOf(*place.block).mbarriers;
  auto it = known.find(place.offset);
  if (it == known.end())
    return fail(user,
                placeText(place) + " is used, but nobody has initialised it");
  entry = &it->second;
  uint64_t bits;
  std::memcpy(&bits, place.host, 8);
  if (bits != entry->bits)
    return fail(user, placeText(place) +
                          " is used after something else wrote its memory");
  MbarrierState::decode(bits, state);
  return true;
}

static void store(const MbarrierUser &user, const SharedPlace &place,
                  const MbarrierState &state, MbarrierEntry &entry) {
  entry.bits = state.encode();
  std::memcpy(place.host, &entry.bits, 8);
  user.warp.wrote = true;
}

/// Ends the phase if nothing is awaited any more.
static void completePhase(const MbarrierUser &user, const SharedPlace &place,
                          MbarrierState &state, MbarrierEntry &entry) {
  if (state.pending != 0 || state.transactions != 0)
    return;
  if (user.warp.monitor)
    user.warp.monitor->mbarrierComplete(*place.block, place.offset);
  state.phase = !state.phase;
  state.pending = state.expected;
  ++entry.phases;
}

bool tile_dialect::emulator::initMbarrier(const MbarrierUser &user,
                                          const SharedPlace &place,
                                          uint32_t count) {
  if (count == 0 || count > MbarrierState::maximalCount)
    return fail(user, "an mbarrier counts 1 to 1048575 arrivals, found " +
                          Twine(count));
  auto &known = asyncOf(*place.block).mbarriers;
  auto it = known.find(place.offset);
  if (it != known.end()) {
    MbarrierState old;
    uint64_t bits;
    std::memcpy(&bits, place.host, 8);
    MbarrierState::decode(bits, old);
    if (bits == it->second.bits &&
        (old.pending != old.expected || old.transactions != 0))
      return fail(user, placeText(place) +
                            " is initialised again while a phase is under way");
  }
  MbarrierState state;
  state.pending = state.expected = count;
  MbarrierEntry &entry = known[place.offset];
  entry = MbarrierEntry();
  store(user, place, state, entry);
  return true;
}

bool tile_dialect::emulator::invalidateMbarrier(const MbarrierUser &user,
                                                const SharedPlace &place) {
  MbarrierState state;
  MbarrierEntry *entry;
  if (!load(user, place, state, entry))
    return false;
  asyncOf(*place.block).mbarriers.erase(place.offset);
  return true;
}

bool tile_dialect::emulator::readMbarrier(const MbarrierUser &user,
                                          const SharedPlace &place,
                                          MbarrierState &state) {
  MbarrierEntry *entry;
  return load(user, place, state, entry);
}

static bool addTransactions(const MbarrierUser &user, const SharedPlace &place,
                            MbarrierState &state, int64_t bytes) {
  int64_t sum = state.transactions + bytes;
  constexpr int64_t limit = MbarrierState::maximalCount;
  if (sum < -limit || sum > limit)
    return fail(user, "the tx-count of " + placeText(place) + " becomes " +
                          Twine(sum) + ", outside of -1048575 to 1048575");
  state.transactions = sum;
  return true;
}

bool tile_dialect::emulator::arriveMbarrier(const MbarrierUser &user,
                                            const SharedPlace &place,
                                            const Arrival &arrival) {
  MbarrierState state;
  MbarrierEntry *entry;
  if (!load(user, place, state, entry) ||
      !addTransactions(user, place, state, arrival.expectBytes))
    return false;
  if (arrival.count == 0 || arrival.count > MbarrierState::maximalCount)
    return fail(user, "an arrival counts 1 to 1048575, found " +
                          Twine(arrival.count));
  if (arrival.count > state.pending)
    return fail(user, Twine(arrival.count) + " arrivals at " +
                          placeText(place) + ", which awaits only " +
                          Twine(state.pending) + " of " +
                          Twine(state.expected) + " in this phase");
  if (arrival.drop) {
    if (arrival.count > state.expected)
      return fail(user,
                  "arrive_drop leaves a negative count at " + placeText(place));
    state.expected -= arrival.count;
  }
  state.pending -= arrival.count;
  if (arrival.noComplete && state.pending == 0 && state.transactions == 0)
    return fail(user, "an arrival with .noComplete completes the phase of " +
                          placeText(place));
  completePhase(user, place, state, *entry);
  store(user, place, state, *entry);
  return true;
}

bool tile_dialect::emulator::expectTransactions(const MbarrierUser &user,
                                                const SharedPlace &place,
                                                int64_t bytes) {
  MbarrierState state;
  MbarrierEntry *entry;
  if (!load(user, place, state, entry) ||
      !addTransactions(user, place, state, bytes))
    return false;
  store(user, place, state, *entry);
  return true;
}

bool tile_dialect::emulator::completeTransactions(const MbarrierUser &user,
                                                  const SharedPlace &place,
                                                  int64_t bytes) {
  MbarrierState state;
  MbarrierEntry *entry;
  if (!load(user, place, state, entry) ||
      !addTransactions(user, place, state, -bytes))
    return false;
  completePhase(user, place, state, *entry);
  store(user, place, state, *entry);
  return true;
}

bool tile_dialect::emulator::incrementPending(const MbarrierUser &user,
                                              const SharedPlace &place) {
  MbarrierState state;
  MbarrierEntry *entry;
  if (!load(user, place, state, entry))
    return false;
  if (state.pending == MbarrierState::maximalCount)
    return fail(user,
                "the pending count of " + placeText(place) + " overflows");
  ++state.pending;
  store(user, place, state, *entry);
  return true;
}

std::string tile_dialect::emulator::describeMbarriers(const Block &block) {
  const auto *async = static_cast<BlockAsync *>(block.asyncState.get());
  if (!async)
    return "";
  std::vector<uint32_t> offsets;
  for (const auto &[offset, entry] : async->mbarriers)
    offsets.push_back(offset);
  llvm::sort(offsets);
  std::string text;
  for (uint32_t offset : offsets) {
    const MbarrierEntry &entry = async->mbarriers.find(offset)->second;
    MbarrierState state;
    MbarrierState::decode(entry.bits, state);
    text +=
        ("block (" + Twine(block.index.x) + "," + Twine(block.index.y) + "," +
         Twine(block.index.z) + ") mbarrier at shared address 0x" +
         llvm::utohexstr(offset, true) + ": phase " + Twine(entry.phases) +
         " (parity " + Twine(int(state.phase)) + "), " + Twine(state.pending) +
         " of " + Twine(state.expected) + " arrivals and " +
         Twine(state.transactions) + " bytes are awaited\n")
            .str();
  }
  return text;
}
