//===- Report.h - What the emulator tells about a kernel ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_EMULATOR_REPORT_H
#define TILEDIALECT_EMULATOR_REPORT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tile_dialect::emulator {

/// Extents or coordinates in a grid, a cluster or a block.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;

  uint64_t count() const { return uint64_t(x) * y * z; }
  bool operator==(const Dim3 &other) const {
    return x == other.x && y == other.y && z == other.z;
  }
};

/// Where in a launch something happened.  Lines are one-based; zero means that
/// the line is not known.
struct Location {
  std::string kernel;
  bool hasBlock = false;
  Dim3 block{0, 0, 0};
  bool hasThread = false;
  Dim3 thread{0, 0, 0};
  std::string ptxFile;
  unsigned ptxLine = 0;
  std::string ptxText;
  /// From the `.loc` directives of the PTX.
  std::string sourceFile;
  unsigned sourceLine = 0;

  std::string str() const;
};

/// One finding of the emulator.
struct Report {
  enum class Kind : uint8_t {
    /// The PTX text is malformed or uses what the emulator does not know.
    Syntax,
    /// The launch does not fit the kernel or the chip.
    InvalidLaunch,
    /// An access outside of every allocation, or of the shared window.
    OutOfBounds,
    /// An address that is not a multiple of the access's size.
    Misaligned,
    /// A value that nobody wrote decides an address, a branch or a result.
    Uninitialized,
    /// Two accesses that no synchronisation orders, one of them a write.
    Race,
    /// No warp can go on.
    Deadlock,
    /// `trap` was executed.
    Trap,
    /// A device-side `assert` failed.
    AssertFail,
    /// An instruction was used against the rules of the PTX ISA.
    InvalidOperation,
    /// `EmulatorOptions::isInterrupted` asked for the launch to be stopped.
    Interrupted,
  };

  Kind kind = Kind::InvalidOperation;
  std::string message;
  Location where;
  /// Further lines, such as the other side of a race.
  std::vector<std::string> notes;

  /// The report as text of one or more lines without a trailing newline.
  std::string str() const;
};

/// The short lower-case name of a kind, such as "race".
llvm::StringRef kindName(Report::Kind kind);

/// A report as an llvm::Error.
class ReportError : public llvm::ErrorInfo<ReportError> {
public:
  static char ID;

  explicit ReportError(Report report) : report(std::move(report)) {}

  const Report &getReport() const { return report; }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  Report report;
};

/// Makes an error from a kind and a message that has no location.
llvm::Error makeError(Report::Kind kind, const llvm::Twine &message);

} // namespace tile_dialect::emulator

#endif // TILEDIALECT_EMULATOR_REPORT_H
