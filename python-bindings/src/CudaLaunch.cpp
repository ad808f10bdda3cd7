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

namespace nb = nanobind;
using namespace mlir::tile::python;

/// CU_FUNC_ATTRIBUTE_*
static constexpr int kLocalBytes = 3;
static constexpr int kRegisters = 4;
static constexpr int kMaxDynamicSharedBytes = 8;
/// CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
static constexpr int kCapabilityMajor = 75;
static constexpr int kCapabilityMinor = 76;
/// Kernels up to this size may have their shared memory without asking.
static constexpr unsigned kSharedBytesWithoutOptIn = 48 * 1024;

CudaKernel::CudaKernel(nb::bytes image, const std::string &name,
                       const std::vector<std::string> &parameterTypes,
                       unsigned numThreads, unsigned dynamicSharedBytes)
    : driver(getCudaDriver()), parameters(parameterTypes),
      numThreads(numThreads), dynamicSharedBytes(dynamicSharedBytes) {
  if (getCurrentDevice() < 0)
    useDevice(0);
  checkCuda(driver.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  // PTX is text that ends with a zero byte; a cubin may be followed by one.
  std::string data(image.c_str(), image.size());
  nb::gil_scoped_release released;
  checkCuda(driver.cuModuleLoadData(&module, data.c_str()), "cuModuleLoadData");
  checkCuda(driver.cuModuleGetFunction(&function, module, name.c_str()),
            "cuModuleGetFunction");
  if (dynamicSharedBytes > kSharedBytesWithoutOptIn)
    checkCuda(driver.cuFuncSetAttribute(function, kMaxDynamicSharedBytes,
                                        int(dynamicSharedBytes)),
              "cuFuncSetAttribute");
}

int CudaKernel::getAttribute(int attribute) const {
  int value = 0;
  checkCuda(driver.cuFuncGetAttribute(&value, attribute, function),
            "cuFuncGetAttribute");
  return value;
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
    nb::gil_scoped_release released;
    status = launchPacked(grid, pointers.data(),
                          reinterpret_cast<CudaHandle>(stream));
  }
  checkCuda(status, "cuLaunchKernel");
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

static int getDeviceCount() {
  try {
    int count = 0;
    checkCuda(getCudaDriver().cuDeviceGetCount(&count), "cuDeviceGetCount");
    return count;
  } catch (const std::runtime_error &) {
    return 0;
  }
}

void mlir::tile::python::bindCuda(nb::module_ &module) {
  nb::class_<CudaKernel>(module, "CudaKernel")
      .def(nb::init<nb::bytes, const std::string &,
                    const std::vector<std::string> &, unsigned, unsigned>())
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
    if (!isSameStream(stream, other))
      waitForStream(reinterpret_cast<CudaHandle>(stream),
                    reinterpret_cast<CudaHandle>(other));
  });
  module.def("cuda_synchronize", [] {
    if (getCurrentDevice() < 0)
      useDevice(0);
    nb::gil_scoped_release released;
    checkCuda(getCudaDriver().cuCtxSynchronize(), "cuCtxSynchronize");
  });
}
