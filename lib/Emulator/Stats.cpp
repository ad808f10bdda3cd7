//===- Stats.cpp - Counters of an emulated launch ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Emulator/Stats.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace tile_dialect::emulator;

static const char *const classNames[numInstructionClasses] = {
    "integer",      "float",       "half",         "double",  "special",
    "convert",      "move",        "compare",      "control", "global_load",
    "global_store", "shared_load", "shared_store", "local",   "parameter",
    "atomic",       "warp",        "barrier",      "async",   "matrix",
    "matrix_move",  "other"};

namespace {
struct Counter {
  const char *name;
  uint64_t Stats::*value;
};
} // namespace

static const Counter counters[] = {
    {"blocks", &Stats::blocks},
    {"warps", &Stats::warps},
    {"thread_instructions", &Stats::threadInstructions},
    {"global_load_requests", &Stats::globalLoadRequests},
    {"global_load_sectors", &Stats::globalLoadSectors},
    {"global_load_bytes", &Stats::globalLoadBytes},
    {"global_store_requests", &Stats::globalStoreRequests},
    {"global_store_sectors", &Stats::globalStoreSectors},
    {"global_store_bytes", &Stats::globalStoreBytes},
    {"shared_load_requests", &Stats::sharedLoadRequests},
    {"shared_load_wavefronts", &Stats::sharedLoadWavefronts},
    {"shared_load_conflicts", &Stats::sharedLoadConflicts},
    {"shared_load_bytes", &Stats::sharedLoadBytes},
    {"shared_store_requests", &Stats::sharedStoreRequests},
    {"shared_store_wavefronts", &Stats::sharedStoreWavefronts},
    {"shared_store_conflicts", &Stats::sharedStoreConflicts},
    {"shared_store_bytes", &Stats::sharedStoreBytes},
    {"atomic_requests", &Stats::atomicRequests},
    {"atomic_bytes", &Stats::atomicBytes},
    {"cluster_requests", &Stats::clusterRequests},
    {"cluster_bytes", &Stats::clusterBytes},
    {"async_bytes", &Stats::asyncBytes},
    {"async_load_bytes", &Stats::asyncLoadBytes},
    {"async_store_bytes", &Stats::asyncStoreBytes},
    {"async_cluster_bytes", &Stats::asyncClusterBytes},
    {"matrix_macs", &Stats::matrixMacs},
    {"barriers", &Stats::barriers},
    {"divergent_branches", &Stats::divergentBranches},
};

void Stats::add(const Stats &other) {
  for (unsigned i = 0; i < numInstructionClasses; ++i)
    instructions[i] += other.instructions[i];
  for (const Counter &counter : counters)
    this->*counter.value += other.*counter.value;
}

uint64_t Stats::totalInstructions() const {
  uint64_t total = 0;
  for (uint64_t count : instructions)
    total += count;
  return total;
}

void Stats::printTable(llvm::raw_ostream &os) const {
  auto line = [&](const char *name, uint64_t value) {
    os << llvm::format("%-28s %16llu\n", name, (unsigned long long)value);
  };
  line("warp instructions", totalInstructions());
  for (unsigned i = 0; i < numInstructionClasses; ++i)
    if (instructions[i])
      line((std::string("  ") + classNames[i]).c_str(), instructions[i]);
  for (const Counter &counter : counters)
    line(counter.name, this->*counter.value);
  line("matrix_flops", 2 * matrixMacs);
  auto ratio = [&](const char *name, uint64_t part, uint64_t whole) {
    if (whole)
      os << llvm::format("%-28s %16.2f\n", name, double(part) / double(whole));
  };
  ratio("sectors per global load", globalLoadSectors, globalLoadRequests);
  ratio("sectors per global store", globalStoreSectors, globalStoreRequests);
  ratio("wavefronts per shared load", sharedLoadWavefronts, sharedLoadRequests);
  ratio("wavefronts per shared store", sharedStoreWavefronts,
        sharedStoreRequests);
}

void Stats::printJSON(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, 2);
  json.object([&] {
    json.attribute("warp_instructions", totalInstructions());
    json.attributeObject("instructions", [&] {
      for (unsigned i = 0; i < numInstructionClasses; ++i)
        json.attribute(classNames[i], instructions[i]);
    });
    for (const Counter &counter : counters)
      json.attribute(counter.name, this->*counter.value);
    json.attribute("matrix_flops", 2 * matrixMacs);
  });
  os << '\n';
}
