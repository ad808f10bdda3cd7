//===- Compile.cpp - From tile IR to PTX and cubins -----------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Builder.h"
#include "TileDialect/Pipelines/Pipelines.h"
#include "TileDialect/Target/ChipInfo.h"
#include "TileDialect/Target/Compiler.h"
#include "TileDialect/Target/Cubin.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <elf.h>
#include <link.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;
using namespace mlir::tile::python;

namespace {

/// What Python passes on; see `tile/compiler/options.py` for the meaning.
struct Options {
  std::string chip = "sm_80";
  int64_t numWarps = 4;
  int64_t numStages = 3;
  int64_t numCTAs = 1;
  int64_t maxRegisters = 0;
  bool fpFusion = true;
  bool lineInfo = false;
  std::vector<std::string> toolkitRoots;

  tile::CompileOptions get() const {
    tile::CompileOptions options;
    options.chip = chip;
    options.numWarps = numWarps;
    options.numStages = numStages;
    options.numCTAs = numCTAs;
    options.maxRegisters = maxRegisters;
    options.lineInfo = lineInfo;
    options.ptx.fpFusion = fpFusion;
    options.toolkit.roots.assign(toolkitRoots.begin(), toolkitRoots.end());
    return options;
  }
};

struct Result {
  bool ok = false;
  std::string output;
  /// JSON of `tile::toJSON`.
  std::string metadata;
  std::vector<CapturedDiagnostic> diagnostics;

  nb::bytes getBytes() const { return nb::bytes(output.data(), output.size()); }
};

} // namespace

/// Compiles `module` to "tile-gpu", "nvvm", "llvmir" or "ptx".
static void compileTo(ModuleOp module, const std::string &stage,
                      const Options &options, Result &result) {
  if (failed(verify(module)))
    return;
  if (stage == "tile-gpu" || stage == "nvvm") {
    tile::TileToNVVMOptions pipeline;
    pipeline.chip = options.chip;
    pipeline.numWarps = options.numWarps;
    pipeline.numStages = options.numStages;
    pipeline.numCTAs = options.numCTAs;
    pipeline.maxRegisters = options.maxRegisters;
    PassManager passes(module.getContext());
    if (stage == "nvvm")
      tile::buildTileToNVVMPipeline(passes, pipeline);
    else
      tile::buildTileToTileGPUPipeline(passes, pipeline);
    if (failed(passes.run(module)))
      return;
    llvm::raw_string_ostream stream(result.output);
    module->print(stream);
    result.ok = true;
    return;
  }
  auto target = stage == "llvmir" ? tile::CompileTarget::LLVMIR
                                  : tile::CompileTarget::PTX;
  FailureOr<tile::CompiledModule> compiled =
      tile::compileModule(module, target, options.get());
  if (failed(compiled))
    return;
  result.output = std::move(compiled->output);
  result.metadata = llvm::formatv("{0}", tile::toJSON(*compiled)).str();
  result.ok = true;
}

static Result compileText(const std::string &text, const std::string &stage,
                          const Options &options) {
  nb::gil_scoped_release released;
  Result result;
  std::unique_ptr<MLIRContext> context = createContext(result.diagnostics);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, context.get());
  if (module)
    compileTo(*module, stage, options, result);
  return result;
}

static Result assemble(const std::string &ptx, const std::string &ptxas,
                       const Options &options) {
  nb::gil_scoped_release released;
  Result result;
  std::unique_ptr<MLIRContext> context = createContext(result.diagnostics);
  Location loc = UnknownLoc::get(context.get());
  std::string path = ptxas;
  tile::ToolkitSearch toolkit = options.get().toolkit;
  if (path.empty())
    path = toolkit.findPtxas();
  if (path.empty()) {
    emitError(loc) << "ptxas was found in none of: " << toolkit.describe();
    return result;
  }
  FailureOr<tile::Cubin> cubin =
      tile::assemblePTX(ptx, options.chip, path, {}, loc);
  if (failed(cubin))
    return result;
  llvm::json::Array kernels;
  for (const tile::KernelResources &kernel : cubin->kernels)
    kernels.push_back(llvm::json::Object{
        {"name", kernel.name},
        {"registers", kernel.registers},
        {"spill_store_bytes", kernel.spillStoreBytes},
        {"spill_load_bytes", kernel.spillLoadBytes},
        {"stack_bytes", kernel.stackBytes},
    });
  result.metadata =
      llvm::formatv("{0}", llvm::json::Value(std::move(kernels))).str();
  result.output = std::move(cubin->binary);
  result.ok = true;
  return result;
}

/// The build identifier of this extension module as the linker made it from its
/// contents, in hexadecimal: two builds that differ have different ones. Empty
/// if the module was linked without one.
static std::string getBuildId() {
  std::string result;
  auto visit = [](dl_phdr_info *info, size_t, void *data) {
    auto here = reinterpret_cast<uintptr_t>(&getBuildId);
    bool isOurs = false;
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
      const auto &segment = info->dlpi_phdr[i];
      uintptr_t start = info->dlpi_addr + segment.p_vaddr;
      isOurs |= segment.p_type == PT_LOAD && here >= start &&
                here < start + segment.p_memsz;
    }
    if (!isOurs)
      return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
      const auto &segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_NOTE)
        continue;
      const char *note =
          reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr);
      const char *end = note + segment.p_memsz;
      while (note + sizeof(ElfW(Nhdr)) <= end) {
        const auto *header = reinterpret_cast<const ElfW(Nhdr) *>(note);
        const char *name = note + sizeof(*header);
        const char *bytes = name + llvm::alignTo(header->n_namesz, 4);
        if (header->n_type == NT_GNU_BUILD_ID)
          *static_cast<std::string *>(data) = llvm::toHex(
              StringRef(bytes, header->n_descsz), /*LowerCase=*/true);
        note = bytes + llvm::alignTo(header->n_descsz, 4);
      }
    }
    return 1;
  };
  dl_iterate_phdr(visit, &result);
  return result;
}

static std::vector<std::string> getChips() {
  std::vector<std::string> names;
  for (const tile_dialect::ChipInfo &chip : tile_dialect::getAllChips())
    names.push_back(chip.name.str());
  return names;
}

void tile::python::bindCompile(nb::module_ &module,
                               nb::class_<KernelBuilder> &builder) {
  nb::class_<Options>(module, "CompileOptions")
      .def(nb::init<>())
      .def_rw("chip", &Options::chip)
      .def_rw("num_warps", &Options::numWarps)
      .def_rw("num_stages", &Options::numStages)
      .def_rw("num_ctas", &Options::numCTAs)
      .def_rw("max_registers", &Options::maxRegisters)
      .def_rw("fp_fusion", &Options::fpFusion)
      .def_rw("line_info", &Options::lineInfo)
      .def_rw("toolkit_roots", &Options::toolkitRoots);
  nb::class_<Result>(module, "CompileResult")
      .def_ro("ok", &Result::ok)
      .def_ro("output", &Result::output)
      .def_prop_ro("bytes", &Result::getBytes)
      .def_ro("metadata", &Result::metadata)
      .def_ro("diagnostics", &Result::diagnostics);
  builder.def(
      "compile",
      [](KernelBuilder &self, const std::string &stage,
         const Options &options) {
        nb::gil_scoped_release released;
        Result result;
        self.getDiagnostics().clear();
        compileTo(self.getModule(), stage, options, result);
        result.diagnostics = self.getDiagnostics();
        return result;
      },
      "Compiles the kernel; the builder cannot be used afterwards.");
  module.def("compile_text", compileText);
  module.def("assemble", assemble, "ptx"_a, "ptxas"_a, "options"_a);
  module.def("chips", getChips);
  module.def("build_id", getBuildId);
  module.def("default_chip", [] { return tile_dialect::defaultChip.str(); });
}
