//===- CudaDriver.h - Kernels on an NVIDIA GPU ------------------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small part of the CUDA driver API, from the library that every NVIDIA
// driver installs. It is opened at run time: nothing here needs CUDA to build,
// and a machine without a GPU gets an error instead of a program that does not
// start. Knows nothing of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_RUNTIME_CUDADRIVER_H
#define TILEDIALECT_RUNTIME_CUDADRIVER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace tile_dialect::cuda {

struct DriverFunctions;

/// An address in the memory of a device.
using DeviceAddress = uint64_t;

/// Memory of a device, freed with its owner.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  DeviceBuffer(const DriverFunctions &functions, DeviceAddress address,
               uint64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;

  DeviceAddress getAddress() const { return address; }
  uint64_t getSize() const { return bytes; }

private:
  const DriverFunctions *functions = nullptr;
  DeviceAddress address = 0;
  uint64_t bytes = 0;
};

/// A kernel that is loaded on a device; unloaded with its owner.
class Kernel {
public:
  Kernel(const DriverFunctions &functions, void *module, void *function);
  ~Kernel();
  Kernel(Kernel &&other) noexcept;
  Kernel &operator=(Kernel &&other) = delete;

  /// Registers of a thread, and bytes of local memory that a thread spills to
  /// or has arrays in.
  int getNumRegisters() const;
  int getLocalBytes() const;

private:
  friend class Device;
  const DriverFunctions *functions;
  void *module;
  void *function;
};

/// How to launch a kernel. Blocks, then threads.
struct LaunchShape {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  /// Shared memory in bytes beyond the kernel's own.
  uint32_t dynamicSharedBytes = 0;
};

/// A GPU with its primary context, which is current to the thread that opened
/// it.
class Device {
public:
  /// Opens device `ordinal`. Fails if there is no driver or no such device.
  static llvm::Expected<std::unique_ptr<Device>> open(int ordinal = 0);
  ~Device();

  llvm::StringRef getName() const { return name; }
  /// Major and minor number of the compute capability, e.g. 9 and 0.
  std::pair<int, int> getComputeCapability() const { return capability; }
  /// The chip to compile for, e.g. `sm_90a`.
  std::string getChip() const;

  llvm::Expected<DeviceBuffer> allocate(uint64_t bytes);
  llvm::Error copyToDevice(DeviceAddress to, llvm::ArrayRef<uint8_t> from);
  llvm::Error copyToHost(llvm::MutableArrayRef<uint8_t> to, DeviceAddress from);

  /// Loads kernel `name` of `image`: PTX text, which the driver compiles, or a
  /// cubin. An error of the driver's compiler has its log.
  llvm::Expected<Kernel> load(llvm::StringRef image, llvm::StringRef name);

  /// Starts the kernel; `parameters` is its parameter buffer.
  llvm::Error launch(const Kernel &kernel, const LaunchShape &shape,
                     llvm::ArrayRef<uint8_t> parameters);
  /// Waits for all that was launched. An error of a kernel (a bad address, say)
  /// arrives here, and leaves the device unusable for this process.
  llvm::Error synchronize();

  /// Median time in microseconds of `count` launches, each timed on the device
  /// after one that is not.
  llvm::Expected<double> measure(const Kernel &kernel, const LaunchShape &shape,
                                 llvm::ArrayRef<uint8_t> parameters,
                                 unsigned count);

private:
  Device(const DriverFunctions &functions, int ordinal);

  const DriverFunctions &functions;
  int ordinal;
  std::string name;
  std::pair<int, int> capability;
};

} // namespace tile_dialect::cuda

#endif // TILEDIALECT_RUNTIME_CUDADRIVER_H
