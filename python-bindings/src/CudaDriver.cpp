//===- CudaDriver.cpp - The CUDA driver, opened at run time ---------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"

#include <atomic>
#include <dlfcn.h>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>

using namespace mlir::tile::python;

/// CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
static constexpr int kDeviceOrdinalAttribute = 9;
/// CU_EVENT_DISABLE_TIMING
static constexpr unsigned kEventWithoutTiming = 2;

/// CUDA_ERROR_NOT_INITIALIZED: what cuInit says in a child of a process that
/// has called it.
static constexpr CudaStatus kNotInitialized = 3;

/// Whether the last try to open the driver failed for that reason.
static std::atomic<bool> isForkedFromUser = false;

/// Opens libcuda and fills `driver`. Returns why that failed, or nothing.
static std::string open(CudaDriver &driver) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "there is no NVIDIA driver on this machine (libcuda.so.1)";
  std::string reason;
  auto find = [&](auto &function, const char *name) {
    void *address = dlsym(library, name);
    if (!address && reason.empty())
      reason = std::string("the NVIDIA driver has no ") + name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
  };
#define FIND(name) find(driver.name, #name)
  FIND(cuInit);
  FIND(cuGetErrorName);
  FIND(cuGetErrorString);
  FIND(cuCtxGetCurrent);
  FIND(cuCtxSetCurrent);
  FIND(cuCtxGetDevice);
  FIND(cuCtxSynchronize);
  FIND(cuDeviceGet);
  FIND(cuDeviceGetCount);
  FIND(cuDeviceGetName);
  FIND(cuDeviceGetAttribute);
  FIND(cuDevicePrimaryCtxRetain);
  FIND(cuModuleLoadData);
  FIND(cuModuleGetFunction);
  FIND(cuFuncGetAttribute);
  FIND(cuFuncSetAttribute);
  FIND(cuPointerGetAttribute);
  FIND(cuStreamIsCapturing);
  FIND(cuStreamWaitEvent);
  FIND(cuEventCreate);
  FIND(cuEventRecord);
  FIND(cuLaunchKernel);
#undef FIND
  driver.cuLaunchKernelEx = reinterpret_cast<decltype(driver.cuLaunchKernelEx)>(
      dlsym(library, "cuLaunchKernelEx"));
  // The functions without a suffix have an older signature.
  find(driver.cuEventDestroy, "cuEventDestroy_v2");
  if (!reason.empty())
    return reason;
  CudaStatus status = driver.cuInit(0);
  isForkedFromUser = status == kNotInitialized;
  if (isForkedFromUser)
    return "CUDA cannot be used in a forked child of a process that uses it: "
           "start the process with "
           "the method \"spawn\"";
  return status == 0 ? "" : "the NVIDIA driver cannot be initialised (no GPU?)";
}

const CudaDriver &mlir::tile::python::getCudaDriver() {
  static CudaDriver driver;
  static bool isOpen = false;
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (!isOpen) {
    std::string reason = open(driver);
    if (!reason.empty())
      throw std::runtime_error(reason);
    isOpen = true;
  }
  return driver;
}

std::string mlir::tile::python::describeCudaError(CudaStatus status,
                                                  const char *what) {
  const char *name = nullptr, *text = nullptr;
  getCudaDriver().cuGetErrorName(status, &name);
  getCudaDriver().cuGetErrorString(status, &text);
  return std::string(what) + ": " + (name ? name : "unknown error") + ": " +
         (text ? text : "");
}

int mlir::tile::python::getDeviceCount() {
  static std::atomic<int> known = 0;
  if (known)
    return known;
  try {
    int count = 0;
    checkCuda(getCudaDriver().cuDeviceGetCount(&count), "cuDeviceGetCount");
    known = count;
    return count;
  } catch (const std::runtime_error &) {
    return isForkedFromUser ? 1 : 0;
  }
}

void mlir::tile::python::checkCuda(CudaStatus status, const char *what) {
  if (status != 0)
    throw std::runtime_error(describeCudaError(status, what));
}

int mlir::tile::python::getCurrentDevice() {
  const CudaDriver &driver = getCudaDriver();
  CudaHandle context = nullptr;
  checkCuda(driver.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  if (!context)
    return -1;
  int device = 0;
  checkCuda(driver.cuCtxGetDevice(&device), "cuCtxGetDevice");
  return device;
}

void mlir::tile::python::useDevice(int ordinal) {
  if (getCurrentDevice() == ordinal)
    return;
  const CudaDriver &driver = getCudaDriver();
  int device = 0;
  CudaHandle context = nullptr;
  checkCuda(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  checkCuda(driver.cuDevicePrimaryCtxRetain(&context, device),
            "cuDevicePrimaryCtxRetain");
  checkCuda(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

int mlir::tile::python::getDeviceOfAddress(uint64_t address) {
  try {
    int ordinal = 0;
    CudaStatus status = getCudaDriver().cuPointerGetAttribute(
        &ordinal, kDeviceOrdinalAttribute, address);
    return status == 0 ? ordinal : 0;
  } catch (const std::runtime_error &) {
    return 0;
  }
}

void mlir::tile::python::waitForStream(CudaHandle stream, CudaHandle other) {
  const CudaDriver &driver = getCudaDriver();
  int isCapturing = 0;
  checkCuda(driver.cuStreamIsCapturing(stream, &isCapturing),
            "cuStreamIsCapturing");
  if (isCapturing)
    return;
  CudaHandle event = nullptr;
  checkCuda(driver.cuEventCreate(&event, kEventWithoutTiming), "cuEventCreate");
  CudaStatus status = driver.cuEventRecord(event, other);
  if (status == 0)
    status = driver.cuStreamWaitEvent(stream, event, 0);
  // The driver frees an event that is waited for when it has occurred.
  driver.cuEventDestroy(event);
  checkCuda(status, "waiting for the stream of an array");
}
