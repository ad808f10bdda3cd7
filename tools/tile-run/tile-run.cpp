//===- tile-run.cpp - Runs a kernel without or with a GPU ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "OptionParser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include <optional>

using namespace tile_dialect;

namespace {
struct Options {
  std::string input, kernel, grid = "1", block, cluster, stats, wantsHelp;
  std::vector<std::string> arguments, out, expect, print, check;
  uint64_t shared = 0, seed = 0, threads = 0, limit = 0, time = 0;
  uint64_t heap = emulator::EmulatorOptions().heapBytes;
  std::string device = "emulator";
  tile_run::CompileRequest compile;
  double rtol = 1e-5, atol = 1e-8;
};
} // namespace

static void addOptions(tile_run::OptionParser &parser, Options &o) {
  parser.add("device", "emulator|cuda[:N]",
             "where to run: in the emulator (default) or on GPU N (0)",
             o.device);
  parser.add("kernel", "NAME",
             "the kernel; may be left out if there is only one", o.kernel);
  parser.add("grid", "X,Y,Z", "blocks of the grid (1)", o.grid);
  parser.add("block", "X,Y,Z",
             "threads of a block; the default is the kernel's .reqntid",
             o.block);
  parser.add("cluster", "X,Y,Z",
             "blocks of a cluster; the default is .reqnctapercluster",
             o.cluster);
  parser.add("shared", "bytes of dynamic shared memory", o.shared);
  parser.add("arg", "ARG", runtime::kernelArgumentHelp, o.arguments);
  parser.add("print", "INDEX[:N]", "print a buffer's first N (64) elements",
             o.print);
  parser.add("out", "INDEX:F.npy", "write a buffer after the launch", o.out);
  parser.add("expect", "INDEX:ARG",
             "compare a buffer with a file or a generator; exit code 2 if it\n"
             "differs",
             o.expect);
  parser.add("rtol", "relative tolerance of --expect (1e-5)", o.rtol);
  parser.add("atol", "absolute tolerance of --expect (1e-8)", o.atol);
  parser.add(
      "check", "LIST",
      "checks of the emulator: race, uninit or all; bounds and deadlock\n"
      "are checked always, and are accepted here",
      o.check);
  parser.add("seed", "non-zero: warps run in a pseudo-random order", o.seed);
  parser.add("threads", "host threads; the default is all cores", o.threads);
  parser.add("instruction-limit", "stop after that many warp instructions",
             o.limit);
  parser.add("heap", "bytes of the heap that malloc() takes from (8388608)",
             o.heap);
  parser.addOptional("stats", "table|json", "table", "print counters", o.stats);
  parser.add("time", "on a GPU: print the median time of that many launches",
             o.time);
  parser.add(
      "chip", "NAME",
      "compile for that chip; the default is the GPU's, or the module's\n"
      "#nvvm.target in the emulator",
      o.compile.chip);
  parser.add("module", "NAME", "the gpu.module, if the file has several",
             o.compile.module);
  parser.add("num-warps", "warps of a block that is compiled here (4)",
             o.compile.numWarps);
  parser.add("num-stages",
             "stages of loops that are compiled here (3); no effect yet",
             o.compile.numStages);
  parser.add("libdevice", "FILE", "path of libdevice.10.bc",
             o.compile.libdevice);
  parser.add("toolkit", "FOLDER",
             "a CUDA toolkit or Python environment to look for libdevice in",
             o.compile.toolkits);
  parser.addOptional("help", "yes", "yes", "print this text", o.wantsHelp);
}

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static llvm::Error parseDim(llvm::StringRef text, emulator::Dim3 &dim) {
  auto extents = runtime::parseExtents(text);
  if (!extents)
    return extents.takeError();
  dim = emulator::Dim3{(*extents)[0], (*extents)[1], (*extents)[2]};
  return llvm::Error::success();
}

static llvm::Error parseChecks(const Options &options,
                               emulator::EmulatorOptions &result) {
  llvm::SmallVector<llvm::StringRef> checks;
  for (const std::string &list : options.check)
    llvm::StringRef(list).split(checks, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef check : checks) {
    bool all = check == "all", races = check == "race" || check == "races";
    bool uninitialized = check == "uninit" || check == "uninitialized";
    // Bounds and deadlock are checked always; their names are accepted.
    if (!all && !races && !uninitialized && check != "bounds" &&
        check != "deadlock")
      return makeError("unknown check '" + check +
                       "'; expected race, uninit, bounds, deadlock or all");
    result.checkRaces |= all || races;
    result.checkUninitialized |= all || uninitialized;
  }
  return llvm::Error::success();
}

/// Reads `emulator`, `cuda` or `cuda:N`. The result is empty for the emulator.
static llvm::Expected<std::optional<tile_run::CudaRequest>>
parseDevice(const Options &options) {
  llvm::StringRef text = options.device;
  if (text == "emulator") {
    if (options.time)
      return makeError("--time needs --device=cuda");
    return std::nullopt;
  }
  tile_run::CudaRequest cuda;
  if (!text.consume_front("cuda") ||
      (!text.empty() &&
       (!text.consume_front(":") || text.getAsInteger(10, cuda.ordinal))))
    return makeError("--device=" + options.device +
                     ": expected emulator, cuda or cuda:N");
  if (!options.check.empty() || !options.stats.empty() || options.seed ||
      options.threads || options.limit || !options.cluster.empty() ||
      options.heap != Options().heap)
    return makeError("--check, --stats, --seed, --threads, --cluster, --heap "
                     "and --instruction-limit need the emulator");
  cuda.timedLaunches = options.time;
  return cuda;
}

static llvm::Error buildRequest(const Options &options,
                                const tile_run::CompileRequest &compile,
                                tile_run::Request &request) {
  auto program = tile_run::loadProgram(options.input, options.kernel, compile);
  if (!program)
    return program.takeError();
  request.program = std::move(*program);
  request.kernel =
      options.kernel.empty() ? request.program.kernel : options.kernel;
  request.block = request.program.block;
  request.cluster = request.program.cluster;
  if (options.shared > UINT32_MAX)
    return makeError("--shared=" + llvm::Twine(options.shared) +
                     ": no chip has that much");
  request.dynamicSharedBytes =
      options.shared ? options.shared : request.program.dynamicSharedBytes;
  if (llvm::Error error = parseDim(options.grid, request.grid))
    return error;
  if (!options.block.empty()) {
    if (llvm::Error error = parseDim(options.block, request.block))
      return error;
    if (request.block.count() == 0)
      return makeError("--block=" + options.block +
                       ": a block has at least one thread");
  }
  if (!options.cluster.empty())
    if (llvm::Error error = parseDim(options.cluster, request.cluster))
      return error;
  for (const std::string &text : options.arguments) {
    auto argument = runtime::parseKernelArgument(text);
    if (!argument)
      return argument.takeError();
    request.arguments.push_back(std::move(*argument));
  }
  return llvm::Error::success();
}

/// Splits `INDEX[:TEXT]` and finds the buffer.
static llvm::Expected<std::pair<const runtime::HostArray *, std::string>>
findBuffer(const tile_run::Request &request, llvm::StringRef text,
           llvm::StringRef option) {
  auto [head, tail] = text.split(':');
  unsigned index;
  if (head.getAsInteger(10, index))
    return makeError("--" + option + "=" + text + ": expected INDEX:…");
  if (index >= request.arguments.size() || !request.arguments[index].isBuffer)
    return makeError("--" + option + "=" + text + ": argument " +
                     llvm::Twine(index) + " is not a buffer");
  return std::make_pair(&request.arguments[index].value, tail.str());
}

static llvm::Error writeOutputs(const Options &options,
                                const tile_run::Request &request) {
  for (const std::string &text : options.print) {
    auto buffer = findBuffer(request, text, "print");
    if (!buffer)
      return buffer.takeError();
    uint64_t count = 64;
    if (!buffer->second.empty() &&
        llvm::StringRef(buffer->second).getAsInteger(10, count))
      return makeError("--print=" + text + ": expected INDEX:COUNT");
    llvm::outs() << runtime::formatArray(*buffer->first, count) << '\n';
  }
  for (const std::string &text : options.out) {
    auto buffer = findBuffer(request, text, "out");
    if (!buffer)
      return buffer.takeError();
    if (buffer->second.empty())
      return makeError("--out=" + text + ": expected INDEX:FILE.npy");
    if (llvm::Error error = runtime::writeNpy(buffer->second, *buffer->first))
      return error;
  }
  return llvm::Error::success();
}

/// The number of buffers that differ from what is expected.
static llvm::Expected<unsigned>
compareOutputs(const Options &options, const tile_run::Request &request) {
  unsigned failures = 0;
  for (const std::string &text : options.expect) {
    auto buffer = findBuffer(request, text, "expect");
    if (!buffer)
      return buffer.takeError();
    auto expected = runtime::parseKernelArgument(buffer->second);
    if (!expected)
      return expected.takeError();
    auto comparison = runtime::compareArrays(*buffer->first, expected->value,
                                             options.rtol, options.atol);
    if (!comparison)
      return comparison.takeError();
    llvm::outs() << "argument " << llvm::StringRef(text).split(':').first
                 << ": " << (comparison->matches() ? "ok, " : "FAILED, ")
                 << comparison->str() << '\n';
    failures += !comparison->matches();
  }
  return failures;
}

/// Runs the request in the emulator and prints what it counted and found.
/// Returns the number of findings.
static llvm::Expected<unsigned> runInEmulator(const Options &options,
                                              tile_run::Request &request) {
  tile_run::EmulatorRequest emulation;
  if (llvm::Error error = parseChecks(options, emulation.options))
    return std::move(error);
  emulation.options.seed = options.seed;
  emulation.options.heapBytes = options.heap;
  emulation.options.threads = options.threads;
  emulation.options.instructionLimit = options.limit;
  bool json = options.stats == "json";
  if (!options.stats.empty() && !json && options.stats != "table")
    return makeError("--stats=" + options.stats + ": expected table or json");
  emulation.options.collectStats = !options.stats.empty();
  if (llvm::Error error = tile_run::runOnEmulator(request, emulation))
    return std::move(error);
  if (json)
    emulation.result.stats.printJSON(llvm::outs());
  else if (!options.stats.empty())
    emulation.result.stats.printTable(llvm::outs());
  for (const emulator::Report &report : emulation.result.reports)
    llvm::errs() << report.str() << '\n';
  return emulation.result.reports.size();
}

static llvm::Expected<int> run(const Options &options) {
  // Not-a-number would agree with everything or nothing.
  if (!(options.rtol >= 0) || !(options.atol >= 0))
    return makeError("--rtol and --atol must not be negative");
  auto cuda = parseDevice(options);
  if (!cuda)
    return cuda.takeError();
  tile_run::CompileRequest compile = options.compile;
  if (*cuda && compile.chip.empty()) {
    auto chip = tile_run::getCudaChip((*cuda)->ordinal);
    if (!chip)
      return chip.takeError();
    compile.chip = *chip;
  }
  tile_run::Request request;
  if (llvm::Error error = buildRequest(options, compile, request))
    return std::move(error);

  unsigned findings = 0;
  if (*cuda) {
    if (llvm::Error error = tile_run::runOnCuda(request, **cuda))
      return std::move(error);
    if (options.time)
      llvm::outs() << llvm::format("time: %.2f us\n", (*cuda)->microseconds);
  } else {
    auto found = runInEmulator(options, request);
    if (!found)
      return found.takeError();
    findings = *found;
  }
  if (llvm::Error error = writeOutputs(options, request))
    return std::move(error);
  auto failures = compareOutputs(options, request);
  if (!failures)
    return failures.takeError();
  return *failures || findings ? 2 : 0;
}

static const char *const usage =
    "tile-run FILE.mlir|FILE.ptx [options]: runs a kernel in the emulator, or "
    "on\na GPU with --device=cuda.\n\n"
    "Exit codes:\n"
    "  0  the kernel ran, the checks found nothing, and every --expect agrees\n"
    "  1  an error: of the command line or a file, of the module, or one that\n"
    "     stopped the kernel (out of bounds, misaligned, deadlock, trap)\n"
    "  2  the kernel ran to its end, but --check found something or an\n"
    "     --expect differs";

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  options.compile.executable = argv[0];
  tile_run::OptionParser parser;
  addOptions(parser, options);
  std::vector<std::string> positional;
  auto fail = [](llvm::Error error) {
    std::string message = llvm::toString(std::move(error));
    llvm::outs().flush();
    if (llvm::StringRef(message).contains("error: "))
      llvm::errs() << message << '\n';
    else
      llvm::WithColor::error(llvm::errs(), "tile-run") << message << '\n';
    return 1;
  };
  if (llvm::Error error = parser.parse(argc, argv, positional))
    return fail(std::move(error));
  if (options.wantsHelp == "yes") {
    parser.printHelp(llvm::outs(), usage);
    return 0;
  }
  if (positional.size() != 1)
    return fail(makeError("expected one file, found " +
                          llvm::Twine(positional.size()) + "; see --help"));
  options.input = positional[0];
  auto code = run(options);
  return code ? *code : fail(code.takeError());
}
