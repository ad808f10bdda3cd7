//===- CudaLaunch.cpp - Kernels on a GPU ----------------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches in the caller's context and on the caller's stream. libcuda is
// opened when the first kernel is loaded: importing the package needs no
// driver.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "KernelParameters.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <dlfcn.h>
#include <mutex>

namespace nb = nanobind;
using namespace mlir::tile::python;

namespace {

// As the ABI of the driver API has them.
using Status = int;
using Handle = void *;

/// CU_FUNC_ATTRIBUTE_*
constexpr int kLocalBytes = 3;
constexpr int kRegisters = 4;
constexpr int kMaxDynamicSharedBytes = 8;
/// CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
/// Kernels up to this size may have their shared memory without asking.
constexpr unsigned kSharedBytesWithoutOptIn = 48 * 1024;

struct Driver {
  Status (*cuInit)(unsigned);
  Status (*cuGetErrorName)(Status, const char **);
  Status (*cuGetErrorString)(Status, const char **);
  Status (*cuCtxGetCurrent)(Handle *);
  Status (*cuCtxSetCurrent)(Handle);
  Status (*cuCtxSynchronize)();
  Status (*cuDeviceGet)(int *, int);
  Status (*cuDeviceGetCount)(int *);
  Status (*cuDeviceGetAttribute)(int *, int, int);
  Status (*cuDevicePrimaryCtxRetain)(Handle *, int);
  Status (*cuModuleLoadData)(Handle *, const void *);
  Status (*cuModuleUnload)(Handle);
  Status (*cuModuleGetFunction)(Handle *, Handle, const char *);
  Status (*cuFuncGetAttribute)(int *, int, Handle);
  Status (*cuFuncSetAttribute)(Handle, int, int);
  Status (*cuLaunchKernel)(Handle, unsigned, unsigned, unsigned, unsigned,
                           unsigned, unsigned, unsigned, Handle, void **,
                           void **);
};

} // namespace

/// The driver's functions. Throws std::runtime_error if there is no driver.
static const Driver &getDriver() {
  static Driver driver;
  static std::string reason;
  static std::once_flag once;
  std::call_once(once, [] {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      reason = "there is no NVIDIA driver on this machine (libcuda.so.1)";
      return;
    }
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
    FIND(cuCtxSynchronize);
    FIND(cuDeviceGet);
    FIND(cuDeviceGetCount);
    FIND(cuDeviceGetAttribute);
    FIND(cuDevicePrimaryCtxRetain);
    FIND(cuModuleLoadData);
    FIND(cuModuleUnload);
    FIND(cuModuleGetFunction);
    FIND(cuFuncGetAttribute);
    FIND(cuFuncSetAttribute);
    FIND(cuLaunchKernel);
#undef FIND
    if (reason.empty() && driver.cuInit(0) != 0)
      reason = "the NVIDIA driver cannot be initialised (no GPU?)";
  });
  if (!reason.empty())
    throw std::runtime_error(reason);
  return driver;
}

static void check(Status status, const char *what) {
  if (status == 0)
    return;
  const char *name = nullptr, *text = nullptr;
  getDriver().cuGetErrorName(status, &name);
  getDriver().cuGetErrorString(status, &text);
  throw std::runtime_error(std::string(what) + ": " +
                           (name ? name : "unknown error") + ": " +
                           (text ? text : ""));
}

/// Makes a context current in this thread if the caller has none: the primary
/// one of device 0, which the CUDA runtime and torch use too.
static void ensureContext() {
  const Driver &driver = getDriver();
  Handle context = nullptr;
  check(driver.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  if (context)
    return;
  int device = 0;
  check(driver.cuDeviceGet(&device, 0), "cuDeviceGet");
  check(driver.cuDevicePrimaryCtxRetain(&context, device),
        "cuDevicePrimaryCtxRetain");
  check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

namespace {

/// A kernel that is loaded in the context that was current when it was made.
class CudaKernel {
public:
  CudaKernel(nb::bytes image, const std::string &name,
             const std::vector<std::string> &parameterTypes,
             unsigned numThreads, unsigned dynamicSharedBytes)
      : parameters(parameterTypes), numThreads(numThreads),
        dynamicSharedBytes(dynamicSharedBytes) {
    const Driver &driver = getDriver();
    ensureContext();
    // PTX is text that ends with a zero byte; a cubin may be followed by one.
    std::string data(image.c_str(), image.size());
    nb::gil_scoped_release released;
    check(driver.cuModuleLoadData(&module, data.c_str()), "cuModuleLoadData");
    check(driver.cuModuleGetFunction(&function, module, name.c_str()),
          "cuModuleGetFunction");
    if (dynamicSharedBytes > kSharedBytesWithoutOptIn)
      check(driver.cuFuncSetAttribute(function, kMaxDynamicSharedBytes,
                                      int(dynamicSharedBytes)),
            "cuFuncSetAttribute");
  }
  CudaKernel(const CudaKernel &) = delete;
  // The module stays loaded: a graph or a running kernel may still use it, and
  // at exit the context may be gone already.

  int getAttribute(int attribute) const {
    int value = 0;
    check(getDriver().cuFuncGetAttribute(&value, attribute, function),
          "cuFuncGetAttribute");
    return value;
  }

  void launch(std::array<uint32_t, 3> grid, nb::sequence arguments,
              uint64_t stream) const {
    std::vector<ParameterValue> values = parameters.pack(arguments);
    std::vector<void *> pointers;
    pointers.reserve(values.size());
    for (ParameterValue &value : values)
      pointers.push_back(value.bytes.data());
    check(getDriver().cuLaunchKernel(function, grid[0], grid[1], grid[2],
                                     numThreads, 1, 1, dynamicSharedBytes,
                                     reinterpret_cast<Handle>(stream),
                                     pointers.data(), nullptr),
          "cuLaunchKernel");
  }

  uint64_t getFunction() const { return reinterpret_cast<uint64_t>(function); }

private:
  KernelParameters parameters;
  unsigned numThreads, dynamicSharedBytes;
  Handle module = nullptr, function = nullptr;
};

} // namespace

/// Major and minor compute capability of device `ordinal`.
static std::array<int, 2> getCapability(int ordinal) {
  const Driver &driver = getDriver();
  int device = 0;
  std::array<int, 2> capability{};
  check(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  check(driver.cuDeviceGetAttribute(&capability[0], kCapabilityMajor, device),
        "cuDeviceGetAttribute");
  check(driver.cuDeviceGetAttribute(&capability[1], kCapabilityMinor, device),
        "cuDeviceGetAttribute");
  return capability;
}

static int getDeviceCount() {
  try {
    int count = 0;
    check(getDriver().cuDeviceGetCount(&count), "cuDeviceGetCount");
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
  module.def("cuda_device_count", getDeviceCount);
  module.def("cuda_synchronize", [] {
    ensureContext();
    nb::gil_scoped_release released;
    check(getDriver().cuCtxSynchronize(), "cuCtxSynchronize");
  });
}
