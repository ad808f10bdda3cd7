//===- tile-translate.cpp - Compile a module to PTX or a cubin ------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Pipelines/InitAll.h"
#include "TileDialect/Target/Compiler.h"
#include "TileDialect/Target/ToolSupport.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace cl = llvm::cl;

static constexpr StringLiteral toolName = "tile-translate";

namespace {

/// The command line.
struct Options {
  cl::OptionCategory category{"tile-translate options"};

  cl::opt<std::string> input{cl::Positional, cl::desc("<input file>"),
                             cl::init("-"), cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::desc("Output file (default: standard output)"),
      cl::value_desc("file"), cl::init("-"), cl::cat(category)};
  cl::opt<tile::CompileTarget> target{
      cl::desc("What to emit:"),
      cl::values(clEnumValN(tile::CompileTarget::PTX, "tile-to-ptx",
                            "PTX text (default)"),
                 clEnumValN(tile::CompileTarget::LLVMIR, "tile-to-llvmir",
                            "LLVM IR before LLVM's optimisations"),
                 clEnumValN(tile::CompileTarget::Cubin, "tile-to-cubin",
                            "A cubin, assembled by ptxas")),
      cl::init(tile::CompileTarget::PTX), cl::cat(category)};
  cl::opt<std::string> metadata{
      "metadata",
      cl::desc("Write what a launcher must know of the kernels as JSON"),
      cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> module{
      "module", cl::desc("The gpu.module to compile, if there are several"),
      cl::value_desc("name"), cl::cat(category)};

  cl::opt<std::string> chip{
      "chip",
      cl::desc("Target chip, e.g. sm_90a (default: that of the module's "
               "#nvvm.target, else sm_80)"),
      cl::value_desc("name"), cl::cat(category)};
  cl::opt<int64_t> numWarps{
      "num-warps", cl::desc("Warps of a block: a power of two, 1 to 32"),
      cl::value_desc("n"), cl::init(4), cl::cat(category)};
  cl::opt<int64_t> numStages{
      "num-stages",
      cl::desc("Stages of software-pipelined loops, at least 1; no pass "
               "pipelines loops yet, so it has no effect"),
      cl::value_desc("n"), cl::init(3), cl::cat(category)};
  cl::opt<int64_t> numCTAs{"num-ctas",
                           cl::desc("Blocks of a cluster: only 1 so far"),
                           cl::value_desc("n"), cl::init(1), cl::cat(category)};
  cl::opt<int64_t> maxRegisters{
      "max-registers", cl::desc("Most registers of a thread (0: no limit)"),
      cl::value_desc("n"), cl::init(0), cl::cat(category)};
  cl::opt<bool> programmaticLaunch{
      "programmatic-launch",
      cl::desc("Kernels wait themselves for the grids before them, so that "
               "they can be launched programmatically (sm_90 and newer)"),
      cl::init(false), cl::cat(category)};
  cl::opt<unsigned> optLevel{
      "opt-level", cl::desc("LLVM's optimisation level, 0 to 3 (default: 3)"),
      cl::value_desc("n"), cl::init(3), cl::cat(category)};
  cl::opt<bool> fpFusion{
      "fp-fusion",
      cl::desc("Contract a * b + c to one fma, which rounds once (default: "
               "true)"),
      cl::init(true), cl::cat(category)};
  cl::opt<bool> lineInfo{"line-info",
                         cl::desc("Put the lines of the source into the PTX"),
                         cl::init(false), cl::cat(category)};

  cl::list<std::string> toolkit{
      "toolkit",
      cl::desc("A folder to look in for ptxas and libdevice: a CUDA toolkit or "
               "a Python environment with the package nvidia-cuda-nvcc"),
      cl::value_desc("folder"), cl::cat(category)};
  cl::opt<std::string> libdevice{"libdevice",
                                 cl::desc("Path of libdevice.10.bc"),
                                 cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> ptxas{"ptxas", cl::desc("Path of ptxas"),
                             cl::value_desc("file"), cl::cat(category)};
  cl::list<std::string> ptxasOptions{
      "ptxas-options", cl::desc("Further options for ptxas"),
      cl::value_desc("option"), cl::CommaSeparated, cl::cat(category)};

  cl::opt<bool> verifyEach{"verify-each",
                           cl::desc("Verify the IR after each pass"),
                           cl::init(false), cl::cat(category)};
  tile::CompileOptions getCompileOptions(const char *executable) const;
};

} // namespace

tile::CompileOptions Options::getCompileOptions(const char *executable) const {
  tile::CompileOptions options;
  options.chip = chip;
  options.moduleName = module;
  options.numWarps = numWarps;
  options.numStages = numStages;
  options.numCTAs = numCTAs;
  options.maxRegisters = maxRegisters;
  options.programmaticLaunch = programmaticLaunch;
  options.lineInfo = lineInfo;
  options.verifyEach = verifyEach;
  options.ptx.optLevel = optLevel;
  options.ptx.fpFusion = fpFusion;
  options.libdevice = libdevice;
  options.ptxas = ptxas;
  options.ptxasOptions.assign(ptxasOptions.begin(), ptxasOptions.end());
  SmallVector<std::string> roots(toolkit.begin(), toolkit.end());
  // Any function of this program tells where it is.
  static int anchor;
  options.toolkit = tile::ToolkitSearch::forTool(
      roots, llvm::sys::fs::getMainExecutable(executable, &anchor));
  return options;
}

/// Compiles the input and writes all outputs; errors have been reported.
static LogicalResult run(const Options &options, const char *executable,
                         TimingScope &timing) {
  // A kernel is compiled faster than threads are started.
  MLIRContext context(MLIRContext::Threading::DISABLED);
  // Users look for the line of their source, not for a dump of the module.
  context.printOpOnDiagnostic(false);
  DialectRegistry registry;
  tile::registerAllDialects(registry);
  context.appendDialectRegistry(registry);

  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  TimingScope parsing = timing.nest("Parser");
  OwningOpRef<ModuleOp> source =
      tile::parseInput(options.input, sources, context);
  parsing.stop();
  if (!source)
    return failure();

  tile::CompileOptions compile = options.getCompileOptions(executable);
  compile.timing = &timing;
  compile.configurePasses = applyPassManagerCLOptions;
  FailureOr<tile::CompiledModule> compiled =
      tile::compileModule(*source, options.target, compile);
  if (failed(compiled) ||
      failed(tile::writeOutput(options.output, compiled->output, toolName)))
    return failure();
  if (options.metadata.empty())
    return success();
  std::string json = llvm::formatv("{0:2}\n", tile::toJSON(*compiled)).str();
  return tile::writeOutput(options.metadata, json, toolName);
}

int main(int argc, char **argv) {
  tile::installToolErrorHandler(toolName);
  Options options;
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  cl::HideUnrelatedOptions(options.category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles the kernels of a gpu.module to PTX, LLVM IR or a cubin.\n\n"
      "What is not lowered yet goes through the pipeline tile-to-nvvm "
      "first.\n");

  DefaultTimingManager timingManager;
  applyDefaultTimingManagerCLOptions(timingManager);
  TimingScope timing = timingManager.getRootScope();
  bool failed = mlir::failed(run(options, argv[0], timing));
  timing.stop();
  if (failed)
    return 1;
  return 0;
}
