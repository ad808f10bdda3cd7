//===- LaunchTable.cpp - Loaded kernels by their arguments ----------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchTable.h"

#include <cstring>

using namespace mlir::tile::python;

static uint64_t hashWords(const uint64_t *words, unsigned size) {
  // Multiply and fold, a word a step.
  uint64_t state = 0x9e3779b97f4a7c15u ^ size;
  for (unsigned i = 0; i < size; ++i) {
    auto product =
        static_cast<unsigned __int128>(state ^ words[i]) * 0xd6e8feb86659fd93u;
    state = uint64_t(product) ^ uint64_t(product >> 64);
  }
  return state;
}

static bool hasKey(const LaunchEntry &entry, const uint64_t *key,
                   unsigned size) {
  return entry.key.size() == size &&
         std::memcmp(entry.key.data(), key, size * sizeof *key) == 0;
}

LaunchEntry *LaunchTable::find(const uint64_t *key, unsigned size) {
  if (last && hasKey(*last, key, size))
    return last;
  if (slots.empty())
    return nullptr;
  uint64_t hash = hashWords(key, size);
  size_t mask = slots.size() - 1;
  for (size_t i = hash & mask; slots[i]; i = (i + 1) & mask)
    if (slots[i]->hash == hash && hasKey(*slots[i], key, size))
      return last = slots[i];
  return nullptr;
}

void LaunchTable::place(LaunchEntry *entry) {
  size_t mask = slots.size() - 1;
  size_t i = entry->hash & mask;
  while (slots[i])
    i = (i + 1) & mask;
  slots[i] = entry;
}

static void dropReferences(LaunchEntry &entry) {
  Py_XDECREF(entry.loaded);
  Py_XDECREF(entry.compiled);
  Py_XDECREF(entry.cache);
  for (PyObject *object : entry.held)
    Py_DECREF(object);
}

void LaunchTable::insert(std::unique_ptr<LaunchEntry> entry) {
  if (LaunchEntry *old = find(entry->key.data(), unsigned(entry->key.size()))) {
    entry->hash = old->hash;
    std::swap(*old, *entry);
    dropReferences(*entry);
    return;
  }
  if (entries.size() >= kMaxEntries)
    clear();
  entry->hash = hashWords(entry->key.data(), unsigned(entry->key.size()));
  entries.push_back(std::move(entry));
  if (2 * entries.size() <= slots.size())
    return place(entries.back().get());
  slots.assign(slots.empty() ? 8 : 2 * slots.size(), nullptr);
  for (const std::unique_ptr<LaunchEntry> &each : entries)
    place(each.get());
}

void LaunchTable::clear() {
  // Code that runs when objects die finds an empty table.
  std::vector<std::unique_ptr<LaunchEntry>> old = std::move(entries);
  entries.clear();
  slots.clear();
  last = nullptr;
  for (const std::unique_ptr<LaunchEntry> &entry : old)
    dropReferences(*entry);
}
