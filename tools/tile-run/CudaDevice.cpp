//===- CudaDevice.cpp - tile-run on a GPU ---------------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "TileDialect/Runtime/CudaDriver.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

using namespace tile_dialect;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<std::string> tile_run::getCudaChip(int ordinal) {
  auto device = cuda::Device::open(ordinal);
  if (!device)
    return device.takeError();
  return (*device)->getChip();
}

/// Fills in what the PTX itself says of the kernel.
static llvm::Error completeFromPTX(tile_run::Request &request) {
  if (!request.kernel.empty() && request.block.x != 0)
    return llvm::Error::success();
  auto module =
      emulator::Module::parse(request.program.ptx, request.program.name);
  if (!module)
    return module.takeError();
  if (request.kernel.empty()) {
    auto kernel = tile_run::getOnlyKernel(**module);
    if (!kernel)
      return kernel.takeError();
    request.kernel = *kernel;
  }
  if (request.block.x != 0)
    return llvm::Error::success();
  const emulator::KernelInfo *info = (*module)->findKernel(request.kernel);
  if (!info)
    return makeError("there is no kernel '" + request.kernel + "' in '" +
                     request.program.name + "'");
  if (!info->requiredBlock)
    return makeError("kernel '" + request.kernel +
                     "' has no .reqntid; give the block with --block");
  request.block = *info->requiredBlock;
  return llvm::Error::success();
}

/// The parameter buffer of a launch. Each argument lies at a multiple of its
/// size; buffers are passed by address.
static llvm::Expected<std::vector<uint8_t>>
uploadArguments(cuda::Device &device, tile_run::Request &request,
                std::vector<cuda::DeviceBuffer> &buffers) {
  std::vector<uint8_t> parameters;
  auto append = [&](llvm::ArrayRef<uint8_t> bytes) {
    parameters.resize(llvm::alignTo(parameters.size(), bytes.size()));
    parameters.insert(parameters.end(), bytes.begin(), bytes.end());
  };
  for (runtime::KernelArgument &argument : request.arguments) {
    if (!argument.isBuffer) {
      buffers.emplace_back();
      append(argument.value.data);
      continue;
    }
    auto buffer =
        device.allocate(argument.value.data.size() + argument.misalignment);
    if (!buffer)
      return buffer.takeError();
    uint64_t address = buffer->getAddress() + argument.misalignment;
    if (llvm::Error error = device.copyToDevice(address, argument.value.data))
      return std::move(error);
    append(llvm::ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&address),
                                   sizeof(address)));
    buffers.push_back(std::move(*buffer));
  }
  return parameters;
}

llvm::Error tile_run::runOnCuda(Request &request, CudaRequest &cuda) {
  if (llvm::Error error = completeFromPTX(request))
    return error;
  auto device = cuda::Device::open(cuda.ordinal);
  if (!device)
    return device.takeError();
  auto kernel = (*device)->load(request.program.ptx, request.kernel);
  if (!kernel)
    return kernel.takeError();

  std::vector<cuda::DeviceBuffer> buffers;
  auto parameters = uploadArguments(**device, request, buffers);
  if (!parameters)
    return parameters.takeError();
  cuda::LaunchShape shape;
  shape.grid = {request.grid.x, request.grid.y, request.grid.z};
  shape.block = {request.block.x, request.block.y, request.block.z};
  shape.dynamicSharedBytes = request.dynamicSharedBytes;
  // The kernel may print to standard output itself.
  llvm::outs().flush();
  if (llvm::Error error = (*device)->launch(*kernel, shape, *parameters))
    return error;
  if (llvm::Error error = (*device)->synchronize())
    return error;
  for (auto [argument, buffer] : llvm::zip(request.arguments, buffers))
    if (argument.isBuffer)
      if (llvm::Error error = (*device)->copyToHost(
              argument.value.data, buffer.getAddress() + argument.misalignment))
        return error;

  // Timed launches come after the results are safe: a kernel may change its
  // inputs.
  if (cuda.timedLaunches) {
    auto time =
        (*device)->measure(*kernel, shape, *parameters, cuda.timedLaunches);
    if (!time)
      return time.takeError();
    cuda.microseconds = *time;
  }
  return llvm::Error::success();
}
