//===- Report.cpp - What the emulator tells about a kernel ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Emulator/Report.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile_dialect::emulator;

char ReportError::ID = 0;

llvm::StringRef tile_dialect::emulator::kindName(Report::Kind kind) {
  switch (kind) {
  case Report::Kind::Syntax:
    return "syntax";
  case Report::Kind::InvalidLaunch:
    return "invalid launch";
  case Report::Kind::OutOfBounds:
    return "out of bounds";
  case Report::Kind::Misaligned:
    return "misaligned";
  case Report::Kind::Uninitialized:
    return "uninitialized";
  case Report::Kind::Race:
    return "race";
  case Report::Kind::Deadlock:
    return "deadlock";
  case Report::Kind::Trap:
    return "trap";
  case Report::Kind::AssertFail:
    return "assertion failed";
  case Report::Kind::InvalidOperation:
    return "invalid operation";
  case Report::Kind::Interrupted:
    return "interrupted";
  }
  return "";
}

static llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Dim3 &dim) {
  return os << '(' << dim.x << ',' << dim.y << ',' << dim.z << ')';
}

std::string Location::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  const char *separator = "";
  if (!kernel.empty()) {
    os << "kernel '" << kernel << "'";
    separator = ", ";
  }
  if (hasBlock) {
    os << separator << "block " << block;
    separator = ", ";
  }
  if (hasThread)
    os << separator << "thread " << thread;
  return text;
}

std::string Report::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!where.ptxFile.empty()) {
    os << where.ptxFile << ':';
    if (where.ptxLine)
      os << where.ptxLine << ':';
    os << ' ';
  }
  os << "error: ";
  if (kind != Kind::Syntax)
    os << kindName(kind) << ": ";
  os << message;
  if (!where.ptxText.empty())
    os << "\n  " << where.ptxText;
  std::string place = where.str();
  if (!place.empty())
    os << "\n  in " << place;
  if (where.sourceLine)
    os << "\n  from " << where.sourceFile << ':' << where.sourceLine;
  for (const std::string &note : notes)
    os << "\n  note: " << note;
  return text;
}

void ReportError::log(llvm::raw_ostream &os) const { os << report.str(); }

std::error_code ReportError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

llvm::Error tile_dialect::emulator::makeError(Report::Kind kind,
                                              const llvm::Twine &message) {
  Report report;
  report.kind = kind;
  report.message = message.str();
  return llvm::make_error<ReportError>(std::move(report));
}
