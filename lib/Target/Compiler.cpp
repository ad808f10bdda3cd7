//===- Compiler.cpp - From a source module to PTX or a cubin --------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/Compiler.h"
#include "TileDialect/Dialect/TileNV/Transforms/Targets.h"
#include "TileDialect/Pipelines/Pipelines.h"
#include "TileDialect/Target/Cubin.h"
#include "TileDialect/Target/LLVMTranslation.h"
#include "TileDialect/Target/Libdevice.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {

/// The steps of one compilation; each reports its own failure.
class Compilation {
public:
  Compilation(ModuleOp source, const tile::CompileOptions &options)
      : source(source), options(options) {}

  FailureOr<tile::CompiledModule> run(tile::CompileTarget target);

private:
  LogicalResult checkOptions();
  LogicalResult selectModule();
  LogicalResult checkKernels();
  LogicalResult checkLaunchBounds();
  LogicalResult selectChip();
  LogicalResult checkTarget(NVVM::NVVMTargetAttr target);
  LogicalResult lower();
  LogicalResult translate();
  LogicalResult emit();
  LogicalResult assemble();

  TimingScope startStep(StringRef name) {
    return options.timing ? options.timing->nest(name) : TimingScope();
  }
  Location getLoc() { return module.getLoc(); }

  ModuleOp source;
  const tile::CompileOptions &options;
  gpu::GPUModuleOp module;
  std::string features;
  tile::SourceArguments sources;
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule;
  tile::CompiledModule result;
};

} // namespace

/// Checks what no pass checks.
LogicalResult Compilation::checkOptions() {
  if (options.ptx.optLevel > 3)
    return emitError(source.getLoc())
           << "the optimisation level is " << options.ptx.optLevel
           << "; expected 0 to 3";
  if (options.numStages < 1)
    return emitError(source.getLoc())
           << "num-stages must be at least 1, not " << options.numStages;
  return success();
}

LogicalResult Compilation::selectModule() {
  SmallVector<gpu::GPUModuleOp> modules(source.getOps<gpu::GPUModuleOp>());
  if (modules.empty())
    return source.emitError("expected a gpu.module with a kernel (a gpu.func "
                            "with the `kernel` keyword), found none");
  if (options.moduleName.empty()) {
    if (modules.size() == 1) {
      module = modules.front();
      return success();
    }
    InFlightDiagnostic error =
        modules[1].emitError("found several GPU modules, choose one of them "
                             "with --module=NAME: ");
    llvm::interleaveComma(modules, error, [&](gpu::GPUModuleOp candidate) {
      error << '@' << candidate.getName();
    });
    return error;
  }
  for (gpu::GPUModuleOp candidate : modules)
    if (candidate.getName() == options.moduleName)
      module = candidate;
  if (!module)
    return source.emitError("there is no GPU module @") << options.moduleName;
  for (gpu::GPUModuleOp candidate : modules)
    if (candidate != module)
      candidate.erase();
  return success();
}

LogicalResult Compilation::checkKernels() {
  bool found = false;
  for (Operation &op : module.getBody()->getOperations()) {
    auto func = dyn_cast<gpu::GPUFuncOp>(op);
    if (!(func && func.isKernel()) &&
        !op.hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      continue;
    found = true;
    // LLVM writes the name as it is, or exits.
    auto name = SymbolTable::getSymbolName(&op).getValue();
    if (!tile_nv::isPTXIdentifier(name))
      return op.emitOpError("has a name that PTX does not allow: expected "
                            "letters, digits, _ and $; found '")
             << name << "'";
  }
  if (!found)
    return module.emitError("expected a kernel in GPU module @")
           << module.getName() << ", found none";
  return success();
}

/// Checks the launch bounds of kernels that no pass of ours will see.
LogicalResult Compilation::checkLaunchBounds() {
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    if (func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()) &&
        failed(tile_nv::verifyLaunchBounds(func, *result.chip)))
      return failure();
  return success();
}

LogicalResult Compilation::selectChip() {
  // A source without a target has not loaded it.
  module.getContext()->loadDialect<NVVM::NVVMDialect>();
  if (failed(tile_nv::setTarget(module, options.chip)))
    return failure();
  auto target = cast<NVVM::NVVMTargetAttr>(module.getTargetsAttr()[0]);
  result.chip = tile_dialect::lookupChip(target.getChip());
  features = target.getFeatures().str();
  // setTarget has checked that there is a version.
  for (StringRef feature : llvm::split(features, ','))
    if (feature.consume_front("+ptx"))
      feature.getAsInteger(10, result.ptxVersion);
  return checkTarget(target);
}

void tile::CompileOptions::configure(TileToNVVMOptions &pipeline) const {
  pipeline.chip = chip;
  pipeline.numWarps = numWarps;
  pipeline.numStages = numStages;
  pipeline.numCTAs = numCTAs;
  pipeline.maxRegisters = maxRegisters;
  pipeline.programmaticLaunch = programmaticLaunch;
}

/// Refuses what `gpu-module-to-binary` would heed and we do not.
LogicalResult Compilation::checkTarget(NVVM::NVVMTargetAttr target) {
  if (DictionaryAttr flags = target.getFlags(); flags && !flags.empty())
    return module.emitOpError("has a target with flags ")
           << flags << ", which have no effect here: give options instead";
  if (ArrayAttr link = target.getLink(); link && !link.empty())
    return module.emitOpError("has a target with link = ")
           << link << ": only libdevice can be linked here";
  // 2 is the value of a target that names none, 3 what tile-nv-set-target sets.
  int level = target.getO();
  if (level != 2 && level != 3 && level != int(options.ptx.optLevel))
    return module.emitOpError("has a target with O = ")
           << level << ": give the optimisation level as an option (it is "
           << options.ptx.optLevel << ")";
  return success();
}

LogicalResult Compilation::lower() {
  sources = tile::collectSourceArguments(module);
  bool isLowered =
      llvm::all_of(module.getBody()->getOperations(), [](Operation &op) {
        return isa_and_nonnull<LLVM::LLVMDialect>(op.getDialect());
      });
  PassManager passes(source.getContext(), ModuleOp::getOperationName());
  passes.enableVerifier(options.verifyEach);
  if (!isLowered) {
    tile::TileToNVVMOptions pipeline;
    options.configure(pipeline);
    pipeline.chip = result.chip->name.str();
    tile::buildTileToNVVMPipeline(passes, pipeline);
  }
  if (options.lineInfo) {
    // "Line tables only" would make ptxas compile for debugging; directives
    // alone do not change the code.
    LLVM::DIScopeForLLVMFuncOpPassOptions scopes;
    scopes.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
    passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(scopes));
  }
  if (passes.empty())
    return success();
  if (options.configurePasses && failed(options.configurePasses(passes)))
    return failure();
  TimingScope timing = startStep("Passes");
  passes.enableTiming(timing);
  if (failed(passes.run(source)))
    return failure();
  return verify(source);
}

LogicalResult Compilation::translate() {
  TimingScope timing = startStep("Translation to LLVM IR");
  auto target = cast<NVVM::NVVMTargetAttr>(module.getTargetsAttr()[0]);
  if (failed(target.verifyTarget(module)))
    return failure();
  FailureOr<std::unique_ptr<llvm::Module>> translated =
      tile::translateToLLVMIR(module, llvmContext, options.lineInfo);
  if (failed(translated))
    return failure();
  llvmModule = std::move(*translated);
  result.kernels = tile::collectKernelMetadata(module, *llvmModule, sources);

  if (!tile::needsLibdevice(*llvmModule))
    return tile::checkUndefined(*llvmModule, getLoc());
  std::string path = options.libdevice;
  if (path.empty())
    path = options.toolkit.findLibdevice();
  if (path.empty())
    return emitError(getLoc())
           << "this module calls libdevice, but libdevice.10.bc was found in "
              "none of: "
           << options.toolkit.describe() << "; give its path with --libdevice";
  if (failed(tile::linkLibdevice(*llvmModule, path, getLoc())))
    return failure();
  return tile::checkUndefined(*llvmModule, getLoc());
}

/// Puts the PTX of `llvmModule` into `result`.
LogicalResult Compilation::emit() {
  TimingScope timing = startStep("LLVM back end set-up");
  FailureOr<std::unique_ptr<tile::PTXEmitter>> emitter =
      tile::PTXEmitter::create(*result.chip, features, options.ptx, getLoc());
  if (failed(emitter))
    return failure();
  timing = startStep("LLVM optimisation");
  if (failed((*emitter)->optimize(*llvmModule, getLoc())))
    return failure();
  timing = startStep("LLVM PTX emission");
  FailureOr<std::string> ptx = (*emitter)->emit(*llvmModule, getLoc());
  if (failed(ptx))
    return failure();
  result.output = std::move(*ptx);
  return success();
}

/// Replaces the PTX in `result` by its cubin.
LogicalResult Compilation::assemble() {
  TimingScope timing = startStep("ptxas");
  std::string ptxas = options.ptxas;
  if (ptxas.empty())
    ptxas = options.toolkit.findPtxas();
  if (ptxas.empty())
    return emitError(getLoc())
           << "ptxas was found in none of: " << options.toolkit.describe()
           << "; give its path with --ptxas";
  SmallVector<std::string> arguments(options.ptxasOptions);
  if (options.lineInfo)
    arguments.push_back("-lineinfo");
  FailureOr<tile::Cubin> cubin = tile::assemblePTX(
      result.output, result.chip->name, ptxas, arguments, getLoc());
  if (failed(cubin))
    return failure();
  for (const std::string &warning : cubin->warnings)
    emitWarning(getLoc()) << warning;
  for (const tile::KernelResources &resources : cubin->kernels) {
    for (tile::KernelMetadata &kernel : result.kernels) {
      if (kernel.name != resources.name)
        continue;
      kernel.registers = resources.registers;
      kernel.spillStoreBytes = resources.spillStoreBytes;
      kernel.spillLoadBytes = resources.spillLoadBytes;
      kernel.stackBytes = resources.stackBytes;
    }
  }
  result.output = std::move(cubin->binary);
  return success();
}

FailureOr<tile::CompiledModule> Compilation::run(tile::CompileTarget target) {
  if (failed(checkOptions()) || failed(selectModule()) ||
      failed(checkKernels()) || failed(selectChip()) ||
      failed(checkLaunchBounds()) || failed(lower()) || failed(translate()))
    return failure();
  result.moduleName = module.getName().str();

  if (target == tile::CompileTarget::LLVMIR) {
    llvm::raw_string_ostream stream(result.output);
    llvmModule->print(stream, nullptr);
    return std::move(result);
  }

  if (failed(emit()))
    return failure();
  if (target == tile::CompileTarget::Cubin && failed(assemble()))
    return failure();
  return std::move(result);
}

FailureOr<tile::CompiledModule>
tile::compileModule(ModuleOp source, CompileTarget target,
                    const CompileOptions &options) {
  return Compilation(source, options).run(target);
}

llvm::json::Value tile::toJSON(const CompiledModule &module) {
  llvm::json::Array kernels;
  for (const KernelMetadata &kernel : module.kernels)
    kernels.push_back(toJSON(kernel));
  return llvm::json::Object{{"version", 1},
                            {"module", module.moduleName},
                            {"chip", module.chip->name},
                            {"ptx_version", module.ptxVersion},
                            {"kernels", std::move(kernels)}};
}
