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
                      const tile::CompileOptions &options, Result &result) {
  if (failed(verify(module)))
    return;
  if (stage == "tile-gpu" || stage == "nvvm") {
    tile::TileToNVVMOptions pipeline;
    options.configure(pipeline);
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
      tile::compileModule(module, target, options);
  if (failed(compiled))
    return;
  result.output = std::move(compiled->output);
  result.metadata = llvm::formatv("{0}", tile::toJSON(*compiled)).str();
  result.ok = true;
}

static Result compileText(const std::string &text, const std::string &stage,
                          const tile::CompileOptions &options) {
  GilReleased released;
  Result result;
  std::unique_ptr<MLIRContext> context = createContext(result.diagnostics);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, context.get());
  if (module)
    compileTo(*module, stage, options, result);
  return result;
}

static Result assemble(const std::string &ptx, const std::string &ptxas,
                       const tile::CompileOptions &options) {
  GilReleased released;
  Result result;
  std::unique_ptr<MLIRContext> context = createContext(result.diagnostics);
  Location loc = UnknownLoc::get(context.get());
  std::string path = ptxas;
  if (path.empty())
    path = options.toolkit.findPtxas();
  if (path.empty()) {
    emitError(loc) << "ptxas was found in none of: "
                   << options.toolkit.describe();
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
  using Options = tile::CompileOptions;
  using Strings = std::vector<std::string>;
  nb::class_<Options>(module, "CompileOptions")
      .def(nb::init<>())
      .def_rw("chip", &Options::chip)
      .def_rw("num_warps", &Options::numWarps)
      .def_rw("num_stages", &Options::numStages)
      .def_rw("num_ctas", &Options::numCTAs)
      .def_rw("max_registers", &Options::maxRegisters)
      .def_rw("programmatic_launch", &Options::programmaticLaunch)
      .def_rw("line_info", &Options::lineInfo)
      .def_prop_rw(
          "fp_fusion", [](const Options &o) { return o.ptx.fpFusion; },
          [](Options &o, bool value) { o.ptx.fpFusion = value; })
      .def_prop_rw(
          "toolkit_roots",
          [](const Options &o) {
            return Strings(o.toolkit.roots.begin(), o.toolkit.roots.end());
          },
          [](Options &o, const Strings &roots) {
            o.toolkit.roots.assign(roots.begin(), roots.end());
          });
  nb::class_<Result>(module, "CompileResult")
      .def_ro("ok", &Result::ok)
      .def_ro("output", &Result::output)
      .def_prop_ro("bytes", &Result::getBytes)
      .def_ro("metadata", &Result::metadata)
      .def_ro("diagnostics", &Result::diagnostics);
  builder.def(
      "compile",
      [](KernelBuilder &self, const std::string &stage,
         const tile::CompileOptions &options) {
        GilReleased released;
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
