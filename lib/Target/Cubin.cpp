//===- Cubin.cpp - From PTX to a cubin, by ptxas --------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/Cubin.h"
#include "TileDialect/Target/ChipInfo.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

using namespace mlir;

namespace {

/// A file in the temporary folder that goes away with its owner.
class TemporaryFile {
public:
  static FailureOr<TemporaryFile> create(StringRef suffix, Location loc) {
    llvm::SmallString<128> path;
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("tile", suffix, path)) {
      emitError(loc) << "cannot create a temporary file: " << error.message();
      return failure();
    }
    return TemporaryFile(path);
  }

  StringRef getPath() const { return path; }

  FailureOr<std::string> read(Location loc) const {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer) {
      emitError(loc) << "cannot read '" << path
                     << "': " << buffer.getError().message();
      return failure();
    }
    return (*buffer)->getBuffer().str();
  }

  LogicalResult write(StringRef content, Location loc) const {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (!error) {
      stream << content;
      stream.close();
      error = stream.error();
    }
    // An error that is left in a stream ends the process in its destructor.
    stream.clear_error();
    if (error)
      return emitError(loc)
             << "cannot write '" << path << "': " << error.message();
    return success();
  }

private:
  explicit TemporaryFile(StringRef path)
      : path(path), remover(std::make_unique<llvm::FileRemover>(path)) {}

  std::string path;
  /// On the heap, because a moved FileRemover would remove the file.
  std::unique_ptr<llvm::FileRemover> remover;
};

} // namespace

/// The number before `unit` in `line`, e.g. 16 for " registers" in "Used 16
/// registers, ...", or 0.
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t end = line.find(unit);
  if (end == StringRef::npos)
    return 0;
  StringRef head = line.take_front(end);
  StringRef digits =
      head.take_back(head.size() - (head.find_last_not_of("0123456789") + 1));
  int64_t number = 0;
  return digits.getAsInteger(10, number) ? 0 : number;
}

void tile::parsePtxasReport(StringRef report, Cubin &cubin) {
  // The lines about a kernel follow the one that names it. Those about a device
  // function that was not inlined have a name of their own and are passed over.
  KernelResources *kernel = nullptr;
  bool inKernel = false;
  for (StringRef line : llvm::split(report, '\n')) {
    if (line.starts_with("ptxas warning")) {
      cubin.warnings.push_back(line.rtrim().str());
    } else if (line.contains("Compiling entry function")) {
      cubin.kernels.emplace_back();
      kernel = &cubin.kernels.back();
      kernel->name = line.split('\'').second.split('\'').first.str();
      inKernel = true;
    } else if (line.contains("Function properties for")) {
      StringRef name =
          line.split("Function properties for").second.trim(" '\r");
      inKernel = kernel && name == kernel->name;
    } else if (inKernel && line.contains("bytes stack frame")) {
      kernel->stackBytes = numberBefore(line, " bytes stack frame");
      kernel->spillStoreBytes = numberBefore(line, " bytes spill stores");
      kernel->spillLoadBytes = numberBefore(line, " bytes spill loads");
    } else if (kernel && line.contains(" registers")) {
      kernel->registers = numberBefore(line, " registers");
      kernel->barriers = numberBefore(line, " barriers");
      kernel->staticSharedBytes = numberBefore(line, " bytes smem");
    }
  }
}

namespace {

/// One run of ptxas: its report, and its exit status, which is negative if it
/// did not start or died of a signal.
struct PtxasRun {
  int status;
  std::string message;
  std::string report;
};

} // namespace

static FailureOr<PtxasRun> runPtxas(StringRef ptxas, StringRef chip,
                                    const TemporaryFile &input,
                                    const TemporaryFile &output,
                                    ArrayRef<std::string> options,
                                    Location loc) {
  FailureOr<TemporaryFile> log = TemporaryFile::create("log", loc);
  if (failed(log))
    return failure();
  std::string arch = ("-arch=" + chip).str();
  SmallVector<StringRef> arguments = {ptxas,           "-v", arch,
                                      input.getPath(), "-o", output.getPath()};
  arguments.append(options.begin(), options.end());
  std::optional<StringRef> redirects[] = {StringRef(""), log->getPath(),
                                          log->getPath()};
  PtxasRun run;
  run.status = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt,
                                         redirects, 0, 0, &run.message);
  FailureOr<std::string> report = log->read(loc);
  if (failed(report))
    return failure();
  run.report = std::move(*report);
  return run;
}

/// The threads of the largest block that a kernel of `ptx` says that it has, or
/// 1 if none says so.
static int64_t getMaxThreads(StringRef ptx) {
  int64_t most = 1;
  for (StringRef directive : {".reqntid", ".maxntid"}) {
    for (StringRef rest = ptx; !rest.empty();) {
      rest = rest.split(directive).second;
      int64_t threads = 1;
      for (StringRef extent : llvm::split(rest.take_until([](char c) {
             return c == '\n' || c == '.' || c == '{';
           }),
                                          ',')) {
        int64_t number = 0;
        if (!extent.trim().getAsInteger(10, number))
          threads *= number;
      }
      most = std::max(most, threads);
    }
  }
  return most;
}

bool tile::mayNeedFewerSpills(StringRef ptx, StringRef chipName,
                              const Cubin &cubin) {
  // Who writes one of these wants these registers, spills included.
  if (ptx.contains(".maxnreg") || ptx.contains(".minnctapersm"))
    return false;
  const tile_dialect::ChipInfo *chip = tile_dialect::lookupChip(chipName);
  if (!chip || cubin.kernels.empty())
    return false;
  // Registers are handed out by eights.
  int64_t most = std::min<int64_t>(
      chip->maxRegistersPerThread,
      llvm::alignDown(chip->registersPerSM / getMaxThreads(ptx), 8));
  return llvm::all_of(cubin.kernels, [&](const KernelResources &kernel) {
    return kernel.hasSpills() && kernel.registers < most;
  });
}

static int64_t getSpilledBytes(const tile::Cubin &cubin) {
  int64_t bytes = 0;
  for (const tile::KernelResources &kernel : cubin.kernels)
    bytes += kernel.spillStoreBytes + kernel.spillLoadBytes;
  return bytes;
}

FailureOr<tile::Cubin> tile::assemblePTX(StringRef ptx, StringRef chip,
                                         StringRef ptxas,
                                         ArrayRef<std::string> options,
                                         Location loc) {
  FailureOr<TemporaryFile> input = TemporaryFile::create("ptx", loc);
  FailureOr<TemporaryFile> output = TemporaryFile::create("cubin", loc);
  if (failed(input) || failed(output) || failed(input->write(ptx, loc)))
    return failure();

  FailureOr<PtxasRun> run =
      runPtxas(ptxas, chip, *input, *output, options, loc);
  if (failed(run))
    return failure();
  if (run->status < 0)
    return emitError(loc) << "cannot run '" << ptxas << "': " << run->message;
  if (run->status != 0)
    return emitError(loc) << "ptxas failed: " << StringRef(run->report).trim();

  Cubin cubin;
  parsePtxasReport(run->report, cubin);
  FailureOr<std::string> binary = output->read(loc);
  if (failed(binary))
    return failure();
  cubin.binary = std::move(*binary);
  // Other options of the caller come with what they do to registers.
  bool hasOtherOptions = llvm::any_of(
      options, [](StringRef option) { return option != "-lineinfo"; });
  if (hasOtherOptions || !mayNeedFewerSpills(ptx, chip, cubin))
    return cubin;

  SmallVector<std::string> moreRegisters(options);
  moreRegisters.append({"--minnctapersm", "1"});
  run = runPtxas(ptxas, chip, *input, *output, moreRegisters, loc);
  // An older ptxas may not know the option.
  if (failed(run) || run->status != 0)
    return cubin;
  Cubin second;
  parsePtxasReport(run->report, second);
  if (getSpilledBytes(second) >= getSpilledBytes(cubin))
    return cubin;
  binary = output->read(loc);
  if (failed(binary))
    return failure();
  second.binary = std::move(*binary);
  return second;
}
