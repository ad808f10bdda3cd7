//===- CudaDriver.h - The CUDA driver, opened at run time -------*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcuda is opened when a GPU is first needed: importing the package needs no
// driver.
//
//===----------------------------------------------------------------------===//

#ifndef TILEDIALECT_PYTHON_CUDADRIVER_H
#define TILEDIALECT_PYTHON_CUDADRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace mlir::tile::python {

// As the ABI of the driver API has them.
using CudaStatus = int;
using CudaHandle = void *;

/// CUlaunchAttribute.
struct CudaLaunchAttribute {
  int id;
  /// CUlaunchAttributeValue, a union of 64 bytes.
  alignas(8) int value[16];
};

/// CUlaunchConfig.
struct CudaLaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  CudaHandle stream;
  CudaLaunchAttribute *attributes;
  unsigned numAttributes;
};

/// The functions of the driver that launches need.
struct CudaDriver {
  CudaStatus (*cuInit)(unsigned);
  CudaStatus (*cuGetErrorName)(CudaStatus, const char **);
  CudaStatus (*cuGetErrorString)(CudaStatus, const char **);
  CudaStatus (*cuCtxGetCurrent)(CudaHandle *);
  CudaStatus (*cuCtxSetCurrent)(CudaHandle);
  CudaStatus (*cuCtxGetDevice)(int *);
  CudaStatus (*cuCtxSynchronize)();
  CudaStatus (*cuDeviceGet)(int *, int);
  CudaStatus (*cuDeviceGetCount)(int *);
  CudaStatus (*cuDeviceGetName)(char *, int, int);
  CudaStatus (*cuDeviceGetAttribute)(int *, int, int);
  CudaStatus (*cuDevicePrimaryCtxRetain)(CudaHandle *, int);
  CudaStatus (*cuModuleLoadData)(CudaHandle *, const void *);
  CudaStatus (*cuModuleGetFunction)(CudaHandle *, CudaHandle, const char *);
  CudaStatus (*cuFuncGetAttribute)(int *, int, CudaHandle);
  CudaStatus (*cuFuncSetAttribute)(CudaHandle, int, int);
  CudaStatus (*cuPointerGetAttribute)(void *, int, uint64_t);
  CudaStatus (*cuStreamIsCapturing)(CudaHandle, int *);
  CudaStatus (*cuStreamWaitEvent)(CudaHandle, CudaHandle, unsigned);
  CudaStatus (*cuEventCreate)(CudaHandle *, unsigned);
  CudaStatus (*cuEventRecord)(CudaHandle, CudaHandle);
  CudaStatus (*cuEventDestroy)(CudaHandle);
  CudaStatus (*cuLaunchKernel)(CudaHandle, unsigned, unsigned, unsigned,
                               unsigned, unsigned, unsigned, unsigned,
                               CudaHandle, void **, void **);
  /// Null in drivers before CUDA 11.8.
  CudaStatus (*cuLaunchKernelEx)(const CudaLaunchConfig *, CudaHandle, void **,
                                 void **);
};

/// The driver, initialised. Throws std::runtime_error if there is none or no
/// GPU; the next call tries again.
const CudaDriver &getCudaDriver();

/// Says that `what` failed, and why.
std::string describeCudaError(CudaStatus status, const char *what);

/// Throws std::runtime_error that says `what` failed and why, unless `status`
/// is success.
void checkCuda(CudaStatus status, const char *what);

/// How many GPUs there are; 0 without a driver. A forked child of a process
/// that has used a GPU cannot use any, but gets the number that the process was
/// told, or 1 if it has never asked.
int getDeviceCount();

/// The ordinal of the device whose context is current in this thread; -1 if
/// none is.
int getCurrentDevice();

/// Makes the primary context of a device, which the CUDA runtime and torch use
/// too, current in this thread unless a context of the device is.
void useDevice(int ordinal);

/// The device that holds the memory at `address`; 0 if the driver does not know
/// the address, or if there is no driver, which a launch will tell.
int getDeviceOfAddress(uint64_t address);

/// Lets work that is put into `stream` from now on wait for what `other` holds
/// now. Does nothing while `stream` is captured into a graph, which must not
/// depend on work outside of it.
void waitForStream(CudaHandle stream, CudaHandle other);

/// Whether two handles are the same stream: 0 and 1 both are the legacy default
/// stream.
inline bool isSameStream(uint64_t left, uint64_t right) {
  return left == right || (left <= 1 && right <= 1);
}

} // namespace mlir::tile::python

#endif // TILEDIALECT_PYTHON_CUDADRIVER_H
