//===- Emulator.cpp - Loading modules and launching kernels ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Emulator/Emulator.h"
#include "Decoder.h"
#include "Machine.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstring>
#include <tuple>

using namespace tile_dialect::emulator;
using llvm::StringRef;
using llvm::Twine;

struct Emulator::Loaded {
  /// The address of each variable of the module, zero where it has none.
  std::vector<uint64_t> addresses;
};

Emulator::Emulator(EmulatorOptions options) : config(std::move(options)) {}
Emulator::~Emulator() = default;

static llvm::Error writeInitializer(const ModuleSyntax &module,
                                    const Variable &variable, uint8_t *bytes,
                                    llvm::ArrayRef<uint64_t> addresses) {
  unsigned element = std::max(1u, bitWidth(variable.type) / 8);
  for (const InitialValue &value : variable.initializer) {
    uint64_t bits = 0;
    switch (value.kind) {
    case InitialValue::Kind::Integer:
      bits = value.integer;
      // An integer may stand for a float of 32 or 64 bits.
      if (variable.type == Type::F64) {
        double number = value.integer;
        std::memcpy(&bits, &number, 8);
      } else if (variable.type == Type::F32) {
        float number = value.integer;
        std::memcpy(&bits, &number, 4);
      }
      break;
    case InitialValue::Kind::Float:
      bits = value.bits;
      if (value.floatBits == 64 && element == 4) {
        double number;
        std::memcpy(&number, &value.bits, 8);
        float narrow = number;
        bits = 0;
        std::memcpy(&bits, &narrow, 4);
      } else if (value.floatBits == 32 && element == 8) {
        float number;
        std::memcpy(&number, &value.bits, 4);
        double wide = number;
        std::memcpy(&bits, &wide, 8);
      }
      break;
    case InitialValue::Kind::Symbol: {
      auto it = module.variableIndex.find(value.symbol);
      if (it != module.variableIndex.end()) {
        bits = addresses[it->second];
      } else {
        auto function = module.functionIndex.find(value.symbol);
        if (function == module.functionIndex.end())
          return syntaxError(module, variable.line,
                             "'" + value.symbol + "' is not declared");
        bits = Image::functionWindow + function->second;
      }
      bits += value.integer;
      if (value.maskByte >= 0)
        bits = bits >> (8 * value.maskByte) & 0xFF;
      break;
    }
    }
    std::memcpy(bytes, &bits, std::min(element, 8u));
    bytes += element;
  }
  return llvm::Error::success();
}

llvm::Error Emulator::load(const Module &module) {
  std::unique_ptr<Loaded> &entry = loaded[&module];
  if (entry)
    return llvm::Error::success();
  const ModuleSyntax &syntax = module.impl().syntax;
  auto result = std::make_unique<Loaded>();
  for (const Variable &variable : syntax.variables) {
    uint64_t address = 0;
    if (variable.space == Space::Global || variable.space == Space::Const) {
      if (variable.isExtern)
        return syntaxError(syntax, variable.line,
                           "external variable '" + variable.name +
                               "' is not defined");
      auto allocated = globalMemory.allocate(
          std::max<uint64_t>(variable.bytes, 1), variable.name);
      if (!allocated)
        return allocated.takeError();
      address = *allocated;
    }
    result->addresses.push_back(address);
  }
  for (auto [variable, address] :
       llvm::zip(syntax.variables, result->addresses)) {
    if (address == 0)
      continue;
    auto *bytes = static_cast<uint8_t *>(globalMemory.hostPointer(address, 1));
    if (llvm::Error error =
            writeInitializer(syntax, variable, bytes, result->addresses))
      return error;
  }
  entry = std::move(result);
  return llvm::Error::success();
}

uint64_t Emulator::symbolAddress(const Module &module, StringRef name) {
  auto entry = loaded.find(&module);
  const ModuleSyntax &syntax = module.impl().syntax;
  auto it = syntax.variableIndex.find(name);
  if (entry == loaded.end() || !entry->second ||
      it == syntax.variableIndex.end())
    return 0;
  return entry->second->addresses[it->second];
}

void Emulator::unload(const Module &module) {
  auto entry = loaded.find(&module);
  if (entry == loaded.end())
    return;
  if (entry->second)
    for (uint64_t address : entry->second->addresses)
      if (address)
        globalMemory.release(address);
  loaded.erase(entry);
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static std::string dimText(const Dim3 &dim) {
  return (Twine(dim.x) + "x" + Twine(dim.y) + "x" + Twine(dim.z)).str();
}

static llvm::Error invalid(const Twine &message) {
  return makeError(Report::Kind::InvalidLaunch, message);
}

static llvm::Error checkShape(const KernelInfo &kernel, const Launch &launch,
                              const Dim3 &cluster) {
  const Dim3 &grid = launch.grid, &block = launch.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return invalid("a grid of " + dimText(grid) + " has no block");
  if (grid.x > 0x7FFFFFFF || grid.y > 65535 || grid.z > 65535)
    return invalid("a grid of " + dimText(grid) +
                   " is larger than 2147483647x65535x65535");
  if (block.x == 0 || block.y == 0 || block.z == 0)
    return invalid("a block of " + dimText(block) + " has no thread");
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || block.count() > 1024)
    return invalid("a block of " + dimText(block) +
                   " is larger than 1024x1024x64 or 1024 threads");
  if (kernel.requiredBlock && !(*kernel.requiredBlock == block))
    return invalid("kernel '" + kernel.name + "' requires blocks of " +
                   dimText(*kernel.requiredBlock) + ", found " +
                   dimText(block));
  if (kernel.maximalBlock && kernel.maximalBlock->count() < block.count())
    return invalid("kernel '" + kernel.name + "' allows blocks of up to " +
                   Twine(kernel.maximalBlock->count()) + " threads, found " +
                   Twine(block.count()));
  if (kernel.requiredCluster && !(*kernel.requiredCluster == cluster))
    return invalid("kernel '" + kernel.name + "' requires clusters of " +
                   dimText(*kernel.requiredCluster) + ", found " +
                   dimText(cluster));
  if (cluster.count() > 16)
    return invalid("a cluster of " + dimText(cluster) +
                   " has more than 16 blocks");
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return invalid("a grid of " + dimText(grid) +
                   " is not a multiple of clusters of " + dimText(cluster));
  return llvm::Error::success();
}

static llvm::Expected<std::vector<uint8_t>>
packArguments(const KernelInfo &kernel, const Arguments &arguments) {
  const auto &values = arguments.get();
  if (values.size() != kernel.parameters.size())
    return invalid("kernel '" + kernel.name + "' takes " +
                   Twine(kernel.parameters.size()) + " arguments, found " +
                   Twine(values.size()));
  std::vector<uint8_t> bytes(llvm::alignTo(kernel.parameterBytes, 16));
  for (unsigned i = 0; i < values.size(); ++i) {
    const KernelParameter &parameter = kernel.parameters[i];
    if (values[i].size() != parameter.size)
      return invalid("argument " + Twine(i) + " of kernel '" + kernel.name +
                     "' has " + Twine(parameter.size) + " bytes (." +
                     parameter.type + "), found " + Twine(values[i].size()));
    std::memcpy(bytes.data() + parameter.offset, values[i].data(),
                values[i].size());
  }
  return bytes;
}

llvm::Expected<LaunchResult> Emulator::launch(const Module &module,
                                              const Launch &launch) {
  const KernelInfo *kernel = module.findKernel(launch.kernel);
  if (!kernel) {
    std::string names;
    const KernelInfo *nearest = nullptr;
    unsigned distance = launch.kernel.size() / 2 + 1;
    for (const KernelInfo &info : module.kernels()) {
      names += (names.empty() ? "" : ", ") + info.name;
      unsigned edits = StringRef(info.name).edit_distance(
          launch.kernel, /*AllowReplacements=*/true, distance);
      if (edits >= distance)
        continue;
      nearest = &info;
      distance = edits;
    }
    return invalid(
        "there is no kernel '" + launch.kernel + "'; the module has " +
        (names.empty() ? std::string("none") : names) +
        (nearest ? "; did you mean '" + nearest->name + "'?" : std::string()));
  }
  Dim3 cluster = launch.cluster;
  if (cluster == Dim3{0, 0, 0})
    cluster = kernel->requiredCluster.value_or(Dim3{1, 1, 1});
  if (cluster.count() == 0)
    return invalid("a cluster of " + dimText(cluster) + " has no block");
  if (llvm::Error error = checkShape(*kernel, launch, cluster))
    return std::move(error);
  const Image &image = *module.impl().images[kernel - module.kernels().data()];
  uint64_t shared = uint64_t(image.dynamicSharedBase) - reservedSharedBytes +
                    launch.dynamicSharedBytes;
  if (shared > config.maximalSharedBytes)
    return invalid("kernel '" + kernel->name + "' needs " + Twine(shared) +
                   " bytes of shared memory, more than the " +
                   Twine(config.maximalSharedBytes) + " of the chip");
  auto parameters = packArguments(*kernel, launch.arguments);
  if (!parameters)
    return parameters.takeError();
  if (llvm::Error error = load(module))
    return std::move(error);

  if (image.usesHeap) {
    auto heap = globalMemory.deviceHeap(config.heapBytes);
    if (!heap)
      return heap.takeError();
    if (config.checkUninitialized)
      globalMemory.trackHeap();
  }

  LaunchContext context(config, globalMemory, image, launch);
  context.clusterShape = cluster;
  context.clusterGrid =
      Dim3{launch.grid.x / cluster.x, launch.grid.y / cluster.y,
           launch.grid.z / cluster.z};
  context.parameters = std::move(*parameters);
  context.constants = image.constants;
  const Loaded &addresses = *loaded[&module];
  for (const Image::Relocation &relocation : image.relocations) {
    uint64_t value =
        addresses.addresses[relocation.variable] + relocation.addend;
    auto begin = context.constants.begin() + relocation.constantOffset / 8;
    std::fill(begin, begin + warpSize, value);
  }
  context.run();
  if (context.wasInterrupted)
    return makeError(Report::Kind::Interrupted, "the launch was interrupted");
  if (context.failedCluster != ~uint64_t(0))
    return llvm::make_error<ReportError>(std::move(context.failure));
  LaunchResult result;
  result.stats = context.stats;
  llvm::sort(context.reports, [](const auto &a, const auto &b) {
    return std::tie(a.first, a.second.where.ptxLine, a.second.message) <
           std::tie(b.first, b.second.where.ptxLine, b.second.message);
  });
  for (auto &[number, report] : context.reports)
    result.reports.push_back(std::move(report));
  return result;
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

Module::Module(std::unique_ptr<ModuleImpl> impl) : pimpl(std::move(impl)) {}
Module::~Module() = default;

static KernelInfo summarize(const FunctionSyntax &function,
                            const Image &image) {
  KernelInfo info;
  info.name = function.name.str();
  info.requiredBlock = function.requiredBlock;
  info.maximalBlock = function.maximalBlock;
  info.requiredCluster = function.requiredCluster;
  info.staticSharedBytes = image.staticSharedBytes;
  info.parameterBytes = image.parameterBytes;
  for (auto [variable, slot] :
       llvm::zip(function.prototype.parameters, image.parameters)) {
    KernelParameter parameter;
    parameter.name = variable.name.str();
    parameter.type = typeName(variable.type).str();
    parameter.size = slot.bytes;
    parameter.offset = slot.offset;
    parameter.align = variable.align;
    info.parameters.push_back(std::move(parameter));
  }
  return info;
}

llvm::Expected<std::unique_ptr<Module>> Module::parse(StringRef text,
                                                      StringRef fileName) {
  auto impl = std::make_unique<ModuleImpl>();
  impl->syntax.text = text.str();
  impl->syntax.fileName = fileName.str();
  if (llvm::Error error = parseModule(impl->syntax))
    return std::move(error);
  llvm::DenseMap<const FunctionSyntax *, bool> reached;
  for (const auto &function : impl->syntax.functions) {
    if (!function->isEntry)
      continue;
    if (!function->hasBody)
      return syntaxError(impl->syntax, function->line,
                         "kernel '" + function->name + "' has no body");
    auto image = std::make_unique<Image>();
    if (llvm::Error error = ImageBuilder(impl->syntax, *image).build(*function))
      return std::move(error);
    for (const auto &code : image->functions)
      reached[code->syntax] = true;
    impl->kernels.push_back(summarize(*function, *image));
    impl->images.push_back(std::move(image));
  }
  // What no kernel calls must be known as well.
  for (const auto &function : impl->syntax.functions) {
    if (!function->hasBody || reached.count(function.get()))
      continue;
    Image scratch;
    if (llvm::Error error =
            ImageBuilder(impl->syntax, scratch).build(*function))
      return std::move(error);
  }
  return std::unique_ptr<Module>(new Module(std::move(impl)));
}

const std::vector<KernelInfo> &Module::kernels() const {
  return pimpl->kernels;
}

const KernelInfo *Module::findKernel(StringRef name) const {
  for (const KernelInfo &info : pimpl->kernels)
    if (info.name == name)
      return &info;
  return nullptr;
}

StringRef Module::target() const { return pimpl->syntax.target; }
