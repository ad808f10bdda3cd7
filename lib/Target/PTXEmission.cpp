//===- PTXEmission.cpp - From LLVM IR to PTX, in process ------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/PTXEmission.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace mlir;

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {

/// While it lives, the back end leaves out straight-line strength reduction,
/// whose time in LLVM 22 grows with more than the square of the sums that share
/// an operand: 0.1 s for 50 of them, 25 s for 300.
class ScopedNoStrengthReduction : public llvm::OptPassGate {
public:
  ScopedNoStrengthReduction(llvm::LLVMContext &context)
      : context(context), outer(context.getOptPassGate()) {
    context.setOptPassGate(*this);
  }
  ~ScopedNoStrengthReduction() override { context.setOptPassGate(outer); }

  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef pass, StringRef) const override {
    return pass != "slsr";
  }

private:
  llvm::LLVMContext &context;
  llvm::OptPassGate &outer;
};

/// While it lives, what LLVM reports in a context becomes MLIR diagnostics.
class ScopedLLVMDiagnostics {
public:
  ScopedLLVMDiagnostics(llvm::LLVMContext &context, Location loc)
      : context(context), loc(loc) {
    context.setDiagnosticHandlerCallBack(&handle, this);
  }
  ~ScopedLLVMDiagnostics() {
    context.setDiagnosticHandlerCallBack(nullptr, nullptr);
  }
  ScopedLLVMDiagnostics(const ScopedLLVMDiagnostics &) = delete;
  ScopedLLVMDiagnostics &operator=(const ScopedLLVMDiagnostics &) = delete;

  bool hadError() const { return error; }

private:
  static void handle(const llvm::DiagnosticInfo *info, void *opaque) {
    auto *self = static_cast<ScopedLLVMDiagnostics *>(opaque);
    // Remarks are not asked for; a missed optimisation is no warning to users.
    if (info->getSeverity() != llvm::DS_Error &&
        (info->getSeverity() != llvm::DS_Warning ||
         info->getKind() == llvm::DK_OptimizationFailure))
      return;
    std::string message;
    llvm::raw_string_ostream stream(message);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
    if (info->getSeverity() == llvm::DS_Error) {
      self->error = true;
      emitError(self->loc) << "LLVM: " << message;
    } else {
      emitWarning(self->loc) << "LLVM: " << message;
    }
  }

  llvm::LLVMContext &context;
  Location loc;
  bool error = false;
};

} // namespace

static void initializeNVPTX() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

static llvm::OptimizationLevel getOptimizationLevel(unsigned level) {
  switch (level) {
  case 0:
    return llvm::OptimizationLevel::O0;
  case 1:
    return llvm::OptimizationLevel::O1;
  case 2:
    return llvm::OptimizationLevel::O2;
  default:
    return llvm::OptimizationLevel::O3;
  }
}

/// The level of the back end: 3 is as 2. NVPTX differs by value numbering,
/// twice, where 2 has early common-subexpression elimination. It takes as long
/// as all the rest of emission and finds nothing in code of tiles: the
/// optimiser has been over it.
static llvm::CodeGenOptLevel getCodeGenLevel(unsigned level) {
  return static_cast<llvm::CodeGenOptLevel>(std::min(level, 2u));
}

/// Whether the optimiser runs a pass. It leaves out the two whose queries about
/// memory take most of its time where a tile is many accesses to shared memory.
/// Equal loads that dominate each other go without them, dead stores to shared
/// memory would be a fault of the lowering, and what is stored to global memory
/// others may read.
static bool runsPass(llvm::StringRef name) {
  return name != "GVNPass" && name != "DSEPass";
}

/// LLVM only warns, on stderr, about a feature that it does not know.
static bool isKnownFeature(const llvm::MCSubtargetInfo &info,
                           StringRef feature) {
  StringRef name =
      feature.drop_while([](char c) { return c == '+' || c == '-'; });
  return llvm::any_of(info.getAllProcessorFeatures(),
                      [&](const auto &known) { return name == known.Key; });
}

tile::PTXEmitter::PTXEmitter(std::unique_ptr<llvm::TargetMachine> machine,
                             const PTXOptions &options)
    : machine(std::move(machine)), options(options) {}
tile::PTXEmitter::~PTXEmitter() = default;

FailureOr<std::unique_ptr<tile::PTXEmitter>>
tile::PTXEmitter::create(const tile_dialect::ChipInfo &chip, StringRef features,
                         const PTXOptions &options, Location loc) {
  initializeNVPTX();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) {
    emitError(loc) << "this LLVM has no NVPTX back end: " << message;
    return failure();
  }

  llvm::TargetOptions targetOptions;
  if (options.fpFusion)
    targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::string chipFeatures =
      features.empty() ? chip.getFeatures() : features.str();
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip.name, chipFeatures, targetOptions, std::nullopt,
      std::nullopt, getCodeGenLevel(options.optLevel)));
  if (!machine) {
    emitError(loc) << "cannot create LLVM's NVPTX back end for " << chip.name;
    return failure();
  }
  const llvm::MCSubtargetInfo &info = *machine->getMCSubtargetInfo();
  for (StringRef feature : llvm::split(chipFeatures, ',')) {
    if (!feature.empty() && !isKnownFeature(info, feature)) {
      emitError(loc) << "unknown target feature '" << feature << "'";
      return failure();
    }
  }
  return std::unique_ptr<PTXEmitter>(
      new PTXEmitter(std::move(machine), options));
}

LogicalResult tile::PTXEmitter::optimize(llvm::Module &module, Location loc) {
  ScopedLLVMDiagnostics diagnostics(module.getContext(), loc);
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());

  llvm::LoopAnalysisManager loopAnalyses;
  llvm::FunctionAnalysisManager functionAnalyses;
  llvm::CGSCCAnalysisManager callGraphAnalyses;
  llvm::ModuleAnalysisManager moduleAnalyses;

  // Tiles are spread over registers already: there is nothing left to vectorise
  // but neighbouring accesses, which the NVPTX back end does on its own.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.LoopInterleaving = false;
  tuning.SLPVectorization = false;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef name, llvm::Any) { return runsPass(name); });
  llvm::PassBuilder builder(machine.get(), tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(moduleAnalyses);
  builder.registerCGSCCAnalyses(callGraphAnalyses);
  builder.registerFunctionAnalyses(functionAnalyses);
  builder.registerLoopAnalyses(loopAnalyses);
  builder.crossRegisterProxies(loopAnalyses, functionAnalyses,
                               callGraphAnalyses, moduleAnalyses);

  llvm::OptimizationLevel level = getOptimizationLevel(options.optLevel);
  llvm::ModulePassManager passes =
      level == llvm::OptimizationLevel::O0
          ? builder.buildO0DefaultPipeline(level)
          : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, moduleAnalyses);
  return failure(diagnostics.hadError());
}

/// Whether some value is an operand of so many integer sums that strength
/// reduction would take most of the time of a compilation.
static bool hasManySumsOfOneOperand(llvm::Module &module) {
  constexpr unsigned kMaxSums = 48;
  llvm::DenseMap<llvm::Value *, unsigned> sums;
  for (llvm::Function &function : module) {
    sums.clear();
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      if (instruction.getOpcode() != llvm::Instruction::Add)
        continue;
      for (llvm::Value *operand : instruction.operands())
        if (!llvm::isa<llvm::Constant>(operand) && ++sums[operand] > kMaxSums)
          return true;
    }
  }
  return false;
}

FailureOr<std::string> tile::PTXEmitter::emit(llvm::Module &module,
                                              Location loc) {
  ScopedLLVMDiagnostics diagnostics(module.getContext(), loc);
  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream stream(ptx);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile,
                                   /*DisableVerify=*/true)) {
    emitError(loc) << "LLVM's NVPTX back end cannot emit PTX";
    return failure();
  }
  std::optional<ScopedNoStrengthReduction> noStrengthReduction;
  if (hasManySumsOfOneOperand(module))
    noStrengthReduction.emplace(module.getContext());
  passes.run(module);
  if (diagnostics.hadError())
    return failure();
  return std::string(ptx);
}
