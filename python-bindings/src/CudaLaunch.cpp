//===- CudaLaunch.cpp - Kernels on a GPU ----------------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loading kernels, and launches in the caller's context and on the caller's
// stream. Launcher.cpp has the fast path of launches; this is what it falls
// back to.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "CudaKernel.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

namespace nb = nanobind;
using namespace mlir::tile::python;
using namespace nb::literals;

/// CU_FUNC_ATTRIBUTE_*
static constexpr int kStaticSharedBytes = 1;
static constexpr int kLocalBytes = 3;
static constexpr int kRegisters = 4;
static constexpr int kMaxDynamicSharedBytes = 8;
/// CU_DEVICE_ATTRIBUTE_*
static constexpr int kMaxThreadsPerBlock = 1;
static constexpr int kMaxRegistersPerBlock = 12;
static constexpr int kCapabilityMajor = 75;
static constexpr int kCapabilityMinor = 76;
static constexpr int kMaxSharedBytesPerBlock = 97;
/// CU_LAUNCH_ATTRIBUTE_*
static constexpr int kCooperative = 2;
static constexpr int kProgrammaticStreamSerialization = 6;
/// CUDA_ERROR_*
static constexpr CudaStatus kInvalidValue = 1;
static constexpr CudaStatus kLaunchOutOfResources = 701;
static constexpr CudaStatus kCooperativeLaunchTooLarge = 720;
/// Kernels up to this size may have their shared memory without asking.
static constexpr unsigned kSharedBytesWithoutOptIn = 48 * 1024;

CudaKernel::CudaKernel(nb::bytes image, const std::string &name,
                       const std::vector<std::string> &parameterTypes,
                       unsigned numThreads, unsigned dynamicSharedBytes,
                       bool isProgrammatic, bool isCooperative)
    : driver(getCudaDriver()), parameters(parameterTypes),
      numThreads(numThreads), dynamicSharedBytes(dynamicSharedBytes),
      // Without that function the kernel waits for nothing.
      isProgrammatic(isProgrammatic && driver.cuLaunchKernelEx),
      isCooperative(isCooperative) {
  if (isCooperative && !driver.cuLaunchKernelEx)
    throw std::runtime_error(
        "launch_cooperative_grid needs a driver of CUDA 11.8 or newer");
  if (getCurrentDevice() < 0)
    useDevice(0);
  checkCuda(driver.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  // PTX is text that ends with a zero byte; a cubin may be followed by one.
  std::string data(image.c_str(), image.size());
  CudaStatus status = 0;
  {
    GilReleased released;
    checkCuda(driver.cuModuleLoadData(&module, data.c_str()),
              "cuModuleLoadData");
    checkCuda(driver.cuModuleGetFunction(&function, module, name.c_str()),
              "cuModuleGetFunction");
    if (dynamicSharedBytes > kSharedBytesWithoutOptIn)
      status = driver.cuFuncSetAttribute(function, kMaxDynamicSharedBytes,
                                         int(dynamicSharedBytes));
  }
  if (status != 0)
    throwIfTooMuchShared(status, "cuFuncSetAttribute");
  checkCuda(status, "cuFuncSetAttribute");
}

/// A CU_DEVICE_ATTRIBUTE_* of device `ordinal`.
static int getDeviceAttribute(int ordinal, int attribute) {
  const CudaDriver &driver = getCudaDriver();
  int device = 0, value = 0;
  checkCuda(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  checkCuda(driver.cuDeviceGetAttribute(&value, attribute, device),
            "cuDeviceGetAttribute");
  return value;
}

/// Throws tile.OutOfResources for what the driver refused with `status`.
[[noreturn]] static void throwOutOfResources(int64_t required, int64_t limit,
                                             const char *name,
                                             CudaStatus status,
                                             const char *what) {
  std::string reason = describeCudaError(status, what);
  nb::object type = nb::module_::import_("tile.errors").attr("OutOfResources");
  nb::object error = type(required, limit, name, reason);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

void CudaKernel::throwIfTooMuchShared(CudaStatus status,
                                      const char *what) const {
  int64_t bytes =
      int64_t(dynamicSharedBytes) + getAttribute(kStaticSharedBytes);
  int limit = getDeviceAttribute(getCurrentDevice(), kMaxSharedBytesPerBlock);
  if (bytes > limit)
    throwOutOfResources(bytes, limit, "shared memory", status, what);
}

void CudaKernel::throwLaunchError(CudaStatus status) const {
  const char *what = "cuLaunchKernel";
  if (status == kInvalidValue || status == kLaunchOutOfResources) {
    throwIfTooMuchShared(status, what);
    int device = getCurrentDevice();
    int maxThreads = getDeviceAttribute(device, kMaxThreadsPerBlock);
    if (int64_t(numThreads) > maxThreads)
      throwOutOfResources(numThreads, maxThreads, "threads", status, what);
    // What is left, as the driver API's text on the error says.
    if (status == kLaunchOutOfResources)
      throwOutOfResources(int64_t(numThreads) * getAttribute(kRegisters),
                          getDeviceAttribute(device, kMaxRegistersPerBlock),
                          "registers", status, what);
  }
  std::string reason = describeCudaError(status, what);
  if (status == kCooperativeLaunchTooLarge)
    reason +=
        ": of a launch with launch_cooperative_grid, all blocks must find "
        "a place on the GPU at once";
  throw std::runtime_error(reason);
}

int CudaKernel::getAttribute(int attribute) const {
  int value = 0;
  checkCuda(driver.cuFuncGetAttribute(&value, attribute, function),
            "cuFuncGetAttribute");
  return value;
}

CudaStatus CudaKernel::launchWithAttributes(const std::array<uint32_t, 3> &grid,
                                            void **values,
                                            CudaHandle stream) const {
  CudaLaunchAttribute attributes[2];
  unsigned numAttributes = 0;
  if (isProgrammatic)
    attributes[numAttributes++] = {kProgrammaticStreamSerialization, {1}};
  if (isCooperative)
    attributes[numAttributes++] = {kCooperative, {1}};
  CudaLaunchConfig config = {{grid[0], grid[1], grid[2]},
                             {numThreads, 1, 1},
                             dynamicSharedBytes,
                             stream,
                             attributes,
                             numAttributes};
  return driver.cuLaunchKernelEx(&config, function, values, nullptr);
}

void CudaKernel::launch(std::array<uint32_t, 3> grid, nb::sequence arguments,
                        uint64_t stream) const {
  std::vector<ParameterValue> values = parameters.pack(arguments);
  std::vector<void *> pointers;
  pointers.reserve(values.size());
  for (ParameterValue &value : values)
    pointers.push_back(value.bytes.data());
  CudaStatus status;
  {
    GilReleased released;
    status = launchPacked(grid, pointers.data(),
                          reinterpret_cast<CudaHandle>(stream));
  }
  if (status != 0)
    throwLaunchError(status);
}

static std::string getDeviceName(int ordinal) {
  const CudaDriver &driver = getCudaDriver();
  int device = 0;
  char name[256] = "";
  checkCuda(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  checkCuda(driver.cuDeviceGetName(name, sizeof name, device),
            "cuDeviceGetName");
  return name;
}

/// Major and minor compute capability of device `ordinal`.
static std::array<int, 2> getCapability(int ordinal) {
  return {getDeviceAttribute(ordinal, kCapabilityMajor),
          getDeviceAttribute(ordinal, kCapabilityMinor)};
}

void mlir::tile::python::bindCuda(nb::module_ &module) {
  nb::class_<CudaKernel>(module, "CudaKernel")
      .def(nb::init<nb::bytes, const std::string &,
                    const std::vector<std::string> &, unsigned, unsigned, bool,
                    bool>(),
           "image"_a, "name"_a, "parameter_types"_a, "num_threads"_a,
           "dynamic_shared_bytes"_a, "is_programmatic"_a = false,
           "is_cooperative"_a = false)
      .def("launch", &CudaKernel::launch)
      .def_prop_ro("function", &CudaKernel::getFunction)
      .def_prop_ro(
          "registers",
          [](const CudaKernel &k) { return k.getAttribute(kRegisters); })
      .def_prop_ro("local_bytes", [](const CudaKernel &k) {
        return k.getAttribute(kLocalBytes);
      });
  module.def("cuda_capability", getCapability);
  module.def("cuda_device_attribute", getDeviceAttribute);
  module.def("cuda_device_count", getDeviceCount);
  module.def("cuda_device_name", getDeviceName);
  module.def("cuda_current_device", getCurrentDevice,
             "The device whose context is current, or -1.");
  module.def("cuda_use_device", useDevice);
  module.def("cuda_device_of_address", getDeviceOfAddress);
  module.def("cuda_wait_stream", [](uint64_t stream, uint64_t other) {
    if (isSameStream(stream, other))
      return;
    GilReleased released;
    waitForStream(reinterpret_cast<CudaHandle>(stream),
                  reinterpret_cast<CudaHandle>(other));
  });
  module.def("cuda_synchronize", [] {
    if (getCurrentDevice() < 0)
      useDevice(0);
    GilReleased released;
    checkCuda(getCudaDriver().cuCtxSynchronize(), "cuCtxSynchronize");
  });
}
