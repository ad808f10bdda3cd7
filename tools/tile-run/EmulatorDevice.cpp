//===- EmulatorDevice.cpp - tile-run in the emulator ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "TileDialect/Target/ChipInfo.h"

using namespace tile_dialect;
using namespace tile_dialect::emulator;

llvm::Expected<std::string>
tile_run::getOnlyKernel(const emulator::Module &module) {
  if (module.kernels().empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the module has no kernel (.entry)");
  if (module.kernels().size() != 1)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the module has " +
                                       llvm::Twine(module.kernels().size()) +
                                       " kernels; name one with --kernel");
  return module.kernels()[0].name;
}

llvm::Error tile_run::runOnEmulator(Request &request,
                                    EmulatorRequest &emulation) {
  auto module = Module::parse(request.program.ptx, request.program.name);
  if (!module)
    return module.takeError();
  Launch launch;
  launch.kernel = request.kernel;
  if (launch.kernel.empty()) {
    llvm::Expected<std::string> kernel = getOnlyKernel(**module);
    if (!kernel)
      return kernel.takeError();
    launch.kernel = *kernel;
  }
  launch.grid = request.grid;
  launch.block = request.block;
  if (launch.block.x == 0) {
    const KernelInfo *info = (*module)->findKernel(launch.kernel);
    if (info && !info->requiredBlock)
      return llvm::createStringError(
          llvm::inconvertibleErrorCode(),
          "kernel '" + launch.kernel +
              "' has no .reqntid; give the block with --block");
    launch.block = info ? *info->requiredBlock : Dim3{1, 1, 1};
  }
  launch.cluster = request.cluster;
  launch.dynamicSharedBytes = request.dynamicSharedBytes;

  // A chip that is not known may have as much as the largest.
  if (const ChipInfo *chip = lookupChip((*module)->target()))
    emulation.options.maximalSharedBytes = chip->maxSharedBytesPerBlock;
  Emulator emulator(emulation.options);
  std::vector<uint64_t> addresses;
  for (auto &argument : request.arguments) {
    uint64_t address = 0;
    if (argument.isBuffer) {
      auto &data = argument.value.data;
      auto allocated = emulator.memory().allocate(
          data.size(), "argument " + std::to_string(addresses.size()),
          argument.misalignment);
      if (!allocated)
        return allocated.takeError();
      address = *allocated;
      std::memcpy(emulator.memory().hostPointer(address, data.size()),
                  data.data(), data.size());
      if (argument.isUninitialized && emulation.options.checkUninitialized)
        emulator.memory().markUninitialized(address);
      launch.arguments.add(address);
    } else {
      launch.arguments.addBytes(argument.value.data);
    }
    addresses.push_back(address);
  }
  auto result = emulator.launch(**module, launch);
  for (auto [argument, address] : llvm::zip(request.arguments, addresses))
    if (argument.isBuffer)
      std::memcpy(
          argument.value.data.data(),
          emulator.memory().hostPointer(address, argument.value.data.size()),
          argument.value.data.size());
  if (!result)
    return result.takeError();
  emulation.result = std::move(*result);
  return llvm::Error::success();
}
