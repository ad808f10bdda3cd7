//===- OpsRuntime.cpp - What the runtime library provides ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "DeviceHeap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <cinttypes>

using namespace tile_dialect::emulator;
using llvm::Twine;

namespace {

/// Reads a string of a thread; false after an error was filed.
bool readString(Warp &warp, const Inst &inst, uint64_t address, unsigned lane,
                std::string &text) {
  for (unsigned i = 0; i < 65536; ++i) {
    const uint8_t *byte =
        warp.resolve(inst, Space::Generic, address + i, 1, false, lane);
    if (!byte)
      return false;
    if (*byte == 0)
      return true;
    text.push_back(char(*byte));
  }
  return true;
}

/// Formats one conversion of printf with an argument from the buffer; advances
/// the address.  False after an error.
bool formatArgument(Warp &warp, const Inst &inst, unsigned lane,
                    std::string spec, uint64_t &address, std::string &out) {
  char conversion = spec.back();
  bool wide = spec.find('l') != std::string::npos ||
              spec.find('j') != std::string::npos ||
              spec.find('z') != std::string::npos ||
              spec.find('t') != std::string::npos;
  bool isFloat = llvm::StringRef("fFeEgGaA").contains(conversion);
  unsigned bytes =
      wide || isFloat || conversion == 's' || conversion == 'p' ? 8 : 4;
  address = (address + bytes - 1) / bytes * bytes;
  const uint8_t *memory =
      warp.resolve(inst, Space::Generic, address, bytes, false, lane);
  if (!memory)
    return false;
  uint64_t bits = 0;
  std::memcpy(&bits, memory, bytes);
  address += bytes;
  std::string body;
  for (char c : spec.substr(0, spec.size() - 1))
    if (!llvm::StringRef("hlLjzt").contains(c))
      body.push_back(c);
  char buffer[512];
  if (isFloat) {
    body.push_back(conversion);
    std::snprintf(buffer, sizeof(buffer), body.c_str(), bitsAs<double>(bits));
  } else if (conversion == 's') {
    std::string text;
    if (!readString(warp, inst, bits, lane, text))
      return false;
    body.push_back('s');
    std::snprintf(buffer, sizeof(buffer), body.c_str(), text.c_str());
  } else if (conversion == 'p') {
    std::snprintf(buffer, sizeof(buffer), "0x%" PRIx64, bits);
  } else if (conversion == 'c') {
    body.push_back('c');
    std::snprintf(buffer, sizeof(buffer), body.c_str(), int(bits));
  } else {
    bool isSigned = conversion == 'd' || conversion == 'i';
    if (bytes == 4 && isSigned)
      bits = uint64_t(int64_t(int32_t(bits)));
    if (spec.find("hh") != std::string::npos)
      bits = isSigned ? uint64_t(int64_t(int8_t(bits))) : uint8_t(bits);
    else if (spec.find('h') != std::string::npos)
      bits = isSigned ? uint64_t(int64_t(int16_t(bits))) : uint16_t(bits);
    body += "ll";
    body.push_back(conversion);
    std::snprintf(buffer, sizeof(buffer), body.c_str(), (long long)bits);
  }
  out += buffer;
  return true;
}

/// Formats as CUDA's printf does: the arguments lie one after another, each at
/// a multiple of its size, floats as doubles.
bool formatPrint(Warp &warp, const Inst &inst, unsigned lane,
                 const std::string &format, uint64_t address, std::string &out,
                 unsigned &count) {
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out.push_back(format[i]);
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out.push_back('%');
      ++i;
      continue;
    }
    std::string spec = "%";
    size_t j = i + 1;
    while (j < format.size() &&
           llvm::StringRef("-+ #0123456789.hlLjzt").contains(format[j]))
      spec.push_back(format[j++]);
    if (j >= format.size() ||
        !llvm::StringRef("diouxXfFeEgGaAcsp").contains(format[j]) ||
        spec.size() > 32) {
      out.push_back('%');
      continue;
    }
    spec.push_back(format[j]);
    if (!formatArgument(warp, inst, lane, spec, address, out))
      return false;
    ++count;
    i = j;
  }
  return true;
}

Step vprintfLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const CallInfo *>(inst.extra);
  bool ok = true;
  eachLane(mask, [&](unsigned l) {
    uint64_t pointers[2] = {0, 0};
    for (unsigned i = 0; i < 2 && i < info.arguments.size(); ++i)
      copyArgument(warp, *warp.frame, info.arguments[i], l,
                   reinterpret_cast<uint8_t *>(&pointers[i]), 8);
    std::string format, text;
    unsigned count = 0;
    ok = ok && readString(warp, inst, pointers[0], l, format) &&
         formatPrint(warp, inst, l, format, pointers[1], text, count);
    if (!ok)
      return;
    warp.block->output += text;
    if (!info.results.empty())
      copyResult(*warp.frame, info.results[0], l,
                 reinterpret_cast<const uint8_t *>(&count), 4);
  });
  return ok ? Step::Next : Step::Error;
}

Step assertfailLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const CallInfo *>(inst.extra);
  unsigned l = llvm::countr_zero(mask);
  uint64_t values[4] = {};
  for (unsigned i = 0; i < 4 && i < info.arguments.size(); ++i)
    copyArgument(warp, *warp.frame, info.arguments[i], l,
                 reinterpret_cast<uint8_t *>(&values[i]), 8);
  std::string message, file, function;
  if (!readString(warp, inst, values[0], l, message) ||
      !readString(warp, inst, values[1], l, file) ||
      !readString(warp, inst, values[3], l, function))
    return Step::Error;
  return warp.error(Report::Kind::AssertFail, inst, l,
                    file + ":" + Twine(uint32_t(values[2])) + ": " + function +
                        ": " + message);
}

/// The first argument of a call as 64 bits.
uint64_t firstArgument(Warp &warp, const CallInfo &info, unsigned lane) {
  uint64_t value = 0;
  if (!info.arguments.empty())
    copyArgument(warp, *warp.frame, info.arguments[0], lane,
                 reinterpret_cast<uint8_t *>(&value), 8);
  return value;
}

Step mallocLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const CallInfo *>(inst.extra);
  DeviceHeap &heap = *warp.context->memory.deviceHeap();
  eachLane(mask, [&](unsigned l) {
    uint64_t address = heap.allocate(firstArgument(warp, info, l));
    if (!info.results.empty())
      copyResult(*warp.frame, info.results[0], l,
                 reinterpret_cast<const uint8_t *>(&address), 8);
  });
  return Step::Next;
}

Step freeLanes(Warp &warp, const Inst &inst, LaneMask mask) {
  const auto &info = *static_cast<const CallInfo *>(inst.extra);
  DeviceHeap &heap = *warp.context->memory.deviceHeap();
  for (unsigned l = 0; l < warpSize; ++l) {
    if (!(mask >> l & 1))
      continue;
    uint64_t address = firstArgument(warp, info, l);
    if (address != 0 && !heap.release(address))
      return warp.error(Report::Kind::InvalidOperation, inst, l,
                        "free of 0x" + llvm::utohexstr(address, true) +
                            ", where no block of the device heap begins: " +
                            heap.describe(address));
  }
  return Step::Next;
}

} // namespace

Handler tile_dialect::emulator::findRuntimeFunction(llvm::StringRef name) {
  return llvm::StringSwitch<Handler>(name)
      .Case("vprintf", vprintfLanes)
      .Case("__assertfail", assertfailLanes)
      .Case("malloc", mallocLanes)
      .Case("free", freeLanes)
      .Default(nullptr);
}
