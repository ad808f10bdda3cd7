//===- KernelMetadata.cpp - What a launcher must know of a kernel ---------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Target/KernelMetadata.h"
#include "TileDialect/Dialect/Tile/IR/Tile.h"
#include "TileDialect/Dialect/TileGPU/IR/TileGPU.h"
#include "TileDialect/Dialect/TileNV/IR/TileNV.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

//===----------------------------------------------------------------------===//
// Before lowering
//===----------------------------------------------------------------------===//

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

/// A descriptor is a base, an extent and a stride for each dimension, and a
/// flag: see DistributionTypeConverter.
static int64_t getNumParameters(Type type) {
  if (auto desc = dyn_cast<tile::DescType>(type))
    return 2 * static_cast<int64_t>(desc.getShape().size()) + 2;
  return 1;
}

tile::SourceArguments tile::collectSourceArguments(gpu::GPUModuleOp module) {
  SourceArguments sources;
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    if (!kernel.isKernel())
      continue;
    SmallVector<SourceArgument> &arguments = sources[kernel.getName()];
    for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
      SourceArgument argument;
      argument.type = printType(type);
      argument.numParameters = getNumParameters(type);
      auto divisibility = kernel.getArgAttrOfType<DenseI32ArrayAttr>(
          index, kDivisibilityAttrName);
      if (divisibility && !divisibility.empty() && divisibility[0] > 0)
        argument.divisibility = divisibility[0];
      arguments.push_back(std::move(argument));
    }
  }
  return sources;
}

//===----------------------------------------------------------------------===//
// After lowering
//===----------------------------------------------------------------------===//

/// `ptr`, `i32`, `f16`: the names that launchers know.
static std::string getParameterTypeName(Type type) {
  return isa<LLVM::LLVMPointerType>(type) ? "ptr" : printType(type);
}

static int64_t getParameterSize(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 8;
  if (type.isIntOrFloat())
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  return 0;
}

/// Joins what the source said of the arguments with the parameters they became.
static void addSources(SmallVectorImpl<tile::KernelParameter> &parameters,
                       ArrayRef<tile::SourceArgument> arguments) {
  int64_t total = 0;
  for (const tile::SourceArgument &argument : arguments)
    total += argument.numParameters;
  if (total != static_cast<int64_t>(parameters.size()))
    return;
  auto *parameter = parameters.begin();
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    for (int64_t part = 0; part < argument.numParameters; ++part, ++parameter) {
      parameter->sourceIndex = index;
      parameter->sourceType = argument.type;
      if (part == 0)
        parameter->divisibility =
            std::lcm(parameter->divisibility, argument.divisibility);
    }
  }
}

static SmallVector<tile::KernelParameter>
collectParameters(LLVM::LLVMFuncOp kernel) {
  SmallVector<tile::KernelParameter> parameters;
  int64_t offset = 0;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    tile::KernelParameter parameter;
    parameter.type = getParameterTypeName(type);
    parameter.size = getParameterSize(type);
    if (parameter.size > 0)
      offset = llvm::alignTo(offset, parameter.size);
    parameter.offset = offset;
    offset += parameter.size;
    if (auto align = kernel.getArgAttrOfType<IntegerAttr>(
            index, LLVM::LLVMDialect::getAlignAttrName()))
      parameter.divisibility = align.getInt();
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// Adds the functions in which `user` (an instruction, or a constant that
/// instructions use) is used.
static void
collectUsers(const llvm::Value &value,
             llvm::SmallPtrSetImpl<const llvm::Function *> &functions) {
  for (const llvm::User *user : value.users()) {
    if (const auto *instruction = dyn_cast<llvm::Instruction>(user))
      functions.insert(instruction->getFunction());
    else
      collectUsers(*user, functions);
  }
}

/// The kernel's own shared variables. A variable that a helper function uses
/// counts for every kernel, which is what ptxas does if the helper is called.
static int64_t getStaticSharedBytes(const llvm::Module &module,
                                    const llvm::Function &kernel) {
  int64_t bytes = 0;
  for (const llvm::GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() != llvm::NVPTXAS::ADDRESS_SPACE_SHARED)
      continue;
    llvm::SmallPtrSet<const llvm::Function *, 4> users;
    collectUsers(variable, users);
    bool isUsed = llvm::any_of(users, [&](const llvm::Function *user) {
      return user == &kernel ||
             user->getCallingConv() != llvm::CallingConv::PTX_Kernel;
    });
    if (!isUsed)
      continue;
    bytes = llvm::alignTo(bytes, variable.getAlign().valueOrOne());
    bytes += module.getDataLayout().getTypeAllocSize(variable.getValueType());
  }
  return bytes;
}

/// The shared memory that the launch has to give: what the largest open array
/// that the kernel uses asks for (all open arrays begin at the same address).
static int64_t getDynamicSharedBytes(gpu::GPUModuleOp module,
                                     LLVM::LLVMFuncOp kernel) {
  int64_t bytes = 0;
  kernel.walk([&](LLVM::AddressOfOp address) {
    auto global = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(
        module, address.getGlobalNameAttr());
    if (!global)
      return;
    if (auto size =
            global->getAttrOfType<IntegerAttr>(tile_gpu::kSharedBytesAttrName))
      bytes = std::max(bytes, size.getInt());
  });
  return bytes;
}

static void readDimensions(Operation *op, StringRef name,
                           SmallVectorImpl<int64_t> &dimensions) {
  auto attr = op->getAttrOfType<DenseI32ArrayAttr>(name);
  if (!attr)
    return;
  for (auto [index, value] : llvm::enumerate(attr.asArrayRef().take_front(3)))
    dimensions[index] = value;
  for (int64_t index = attr.size(); index < 3; ++index)
    dimensions[index] = 1;
}

std::vector<tile::KernelMetadata>
tile::collectKernelMetadata(gpu::GPUModuleOp module,
                            const llvm::Module &translated,
                            const SourceArguments &sources) {
  std::vector<KernelMetadata> kernels;
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      continue;
    KernelMetadata kernel;
    kernel.name = func.getName().str();
    kernel.parameters = collectParameters(func);
    auto source = sources.find(func.getName());
    if (source != sources.end())
      addSources(kernel.parameters, source->second);

    // Both come from `known_block_size`; the compiled code relies on it.
    readDimensions(func, NVVM::NVVMDialect::getMaxntidAttrName(),
                   kernel.blockSize);
    readDimensions(func, NVVM::NVVMDialect::getReqntidAttrName(),
                   kernel.blockSize);
    int64_t threads =
        kernel.blockSize[0] * kernel.blockSize[1] * kernel.blockSize[2];
    kernel.numWarps = llvm::divideCeil(threads, 32);
    readDimensions(func, NVVM::NVVMDialect::getClusterDimAttrName(),
                   kernel.clusterSize);
    kernel.programmaticLaunch =
        func->hasAttr(tile_nv::kProgrammaticLaunchAttrName);
    kernel.dynamicSharedBytes = getDynamicSharedBytes(module, func);
    if (const llvm::Function *function = translated.getFunction(kernel.name))
      kernel.staticSharedBytes = getStaticSharedBytes(translated, *function);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Value toJSON(const tile::KernelParameter &parameter) {
  llvm::json::Object object{{"type", parameter.type},
                            {"size", parameter.size},
                            {"offset", parameter.offset},
                            {"divisibility", parameter.divisibility}};
  if (parameter.sourceIndex >= 0) {
    object["source_index"] = parameter.sourceIndex;
    object["source_type"] = parameter.sourceType;
  }
  return object;
}

llvm::json::Value tile::toJSON(const KernelMetadata &kernel) {
  llvm::json::Array parameters;
  for (const KernelParameter &parameter : kernel.parameters)
    parameters.push_back(::toJSON(parameter));
  llvm::json::Object object{
      {"name", kernel.name},
      {"parameters", std::move(parameters)},
      {"shared_bytes",
       llvm::json::Object{{"static", kernel.staticSharedBytes},
                          {"dynamic", kernel.dynamicSharedBytes}}},
      {"num_warps", kernel.numWarps},
      {"block_size", llvm::json::Array(kernel.blockSize)},
      {"cluster_size", llvm::json::Array(kernel.clusterSize)},
      {"programmatic_launch", kernel.programmaticLaunch},
      {"tma", llvm::json::Array()}};
  if (kernel.registers)
    object["registers"] = *kernel.registers;
  if (kernel.spillStoreBytes)
    object["spill_store_bytes"] = *kernel.spillStoreBytes;
  if (kernel.spillLoadBytes)
    object["spill_load_bytes"] = *kernel.spillLoadBytes;
  if (kernel.stackBytes)
    object["stack_bytes"] = *kernel.stackBytes;
  return object;
}
