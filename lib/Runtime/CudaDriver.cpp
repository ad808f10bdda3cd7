//===- CudaDriver.cpp - Kernels on an NVIDIA GPU --------------------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDialect/Runtime/CudaDriver.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/DynamicLibrary.h"

#include <algorithm>
#include <utility>
#include <vector>

using namespace tile_dialect::cuda;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

// The types of the driver API, as its ABI defines them: handles are pointers,
// device addresses 64-bit integers, results and enumerations ints.

using Result = int;
using Handle = void *;

static constexpr Result kSuccess = 0;

// CUdevice_attribute
static constexpr int kComputeCapabilityMajor = 75;
static constexpr int kComputeCapabilityMinor = 76;
// CUfunction_attribute
static constexpr int kLocalSizeBytes = 3;
static constexpr int kNumRegisters = 4;
static constexpr int kMaxDynamicSharedSizeBytes = 8;
// CUjit_option
static constexpr int kErrorLogBuffer = 5;
static constexpr int kErrorLogBufferSizeBytes = 6;

/// The functions of libcuda that we call. The suffix `_v2` is part of the name
/// of those that take 64-bit sizes.
struct tile_dialect::cuda::DriverFunctions {
  Result (*cuInit)(unsigned flags);
  Result (*cuGetErrorName)(Result result, const char **name);
  Result (*cuGetErrorString)(Result result, const char **text);
  Result (*cuDeviceGetCount)(int *count);
  Result (*cuDeviceGet)(int *device, int ordinal);
  Result (*cuDeviceGetName)(char *name, int length, int device);
  Result (*cuDeviceGetAttribute)(int *value, int attribute, int device);
  Result (*cuDevicePrimaryCtxRetain)(Handle *context, int device);
  Result (*cuDevicePrimaryCtxRelease_v2)(int device);
  Result (*cuCtxSetCurrent)(Handle context);
  Result (*cuCtxSynchronize)();
  Result (*cuMemAlloc_v2)(DeviceAddress *address, size_t bytes);
  Result (*cuMemFree_v2)(DeviceAddress address);
  Result (*cuMemcpyHtoD_v2)(DeviceAddress to, const void *from, size_t bytes);
  Result (*cuMemcpyDtoH_v2)(void *to, DeviceAddress from, size_t bytes);
  Result (*cuModuleLoadDataEx)(Handle *module, const void *image,
                               unsigned numOptions, int *options,
                               void **values);
  Result (*cuModuleUnload)(Handle module);
  Result (*cuModuleGetFunction)(Handle *function, Handle module,
                                const char *name);
  Result (*cuFuncGetAttribute)(int *value, int attribute, Handle function);
  Result (*cuFuncSetAttribute)(Handle function, int attribute, int value);
  Result (*cuLaunchKernel)(Handle function, unsigned gridX, unsigned gridY,
                           unsigned gridZ, unsigned blockX, unsigned blockY,
                           unsigned blockZ, unsigned sharedBytes, Handle stream,
                           void **parameters, void **extra);
  Result (*cuEventCreate)(Handle *event, unsigned flags);
  Result (*cuEventDestroy_v2)(Handle event);
  Result (*cuEventRecord)(Handle event, Handle stream);
  Result (*cuEventSynchronize)(Handle event);
  Result (*cuEventElapsedTime)(float *milliseconds, Handle start, Handle end);
};

//===----------------------------------------------------------------------===//
// Loading the driver
//===----------------------------------------------------------------------===//

static Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// The driver's functions, or null and the reason in `message`.
static const DriverFunctions *loadDriver(std::string &message) {
  static DriverFunctions functions;
  std::string reason;
  llvm::sys::DynamicLibrary library =
      llvm::sys::DynamicLibrary::getPermanentLibrary("libcuda.so.1", &reason);
  if (!library.isValid()) {
    message = "no NVIDIA driver on this machine: " + reason;
    return nullptr;
  }
  bool complete = true;
  auto find = [&](auto &function, const char *name) {
    void *address = library.getAddressOfSymbol(name);
    if (!address && complete) {
      message = std::string("the NVIDIA driver is too old: it has no ") + name;
      complete = false;
    }
    function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
  };
#define FIND(name) find(functions.name, #name)
  FIND(cuInit);
  FIND(cuGetErrorName);
  FIND(cuGetErrorString);
  FIND(cuDeviceGetCount);
  FIND(cuDeviceGet);
  FIND(cuDeviceGetName);
  FIND(cuDeviceGetAttribute);
  FIND(cuDevicePrimaryCtxRetain);
  FIND(cuDevicePrimaryCtxRelease_v2);
  FIND(cuCtxSetCurrent);
  FIND(cuCtxSynchronize);
  FIND(cuMemAlloc_v2);
  FIND(cuMemFree_v2);
  FIND(cuMemcpyHtoD_v2);
  FIND(cuMemcpyDtoH_v2);
  FIND(cuModuleLoadDataEx);
  FIND(cuModuleUnload);
  FIND(cuModuleGetFunction);
  FIND(cuFuncGetAttribute);
  FIND(cuFuncSetAttribute);
  FIND(cuLaunchKernel);
  FIND(cuEventCreate);
  FIND(cuEventDestroy_v2);
  FIND(cuEventRecord);
  FIND(cuEventSynchronize);
  FIND(cuEventElapsedTime);
#undef FIND
  return complete ? &functions : nullptr;
}

/// Success, or what the driver says about `result`.
static Error check(const DriverFunctions &functions, Result result,
                   const Twine &what) {
  if (result == kSuccess)
    return Error::success();
  const char *name = nullptr;
  const char *text = nullptr;
  functions.cuGetErrorName(result, &name);
  functions.cuGetErrorString(result, &text);
  return makeError(what + ": " + (text ? text : "unknown error") + " (" +
                   (name ? name : "?") + ")");
}

//===----------------------------------------------------------------------===//
// Buffers and kernels
//===----------------------------------------------------------------------===//

DeviceBuffer::DeviceBuffer(const DriverFunctions &functions,
                           DeviceAddress address, uint64_t bytes)
    : functions(&functions), address(address), bytes(bytes) {}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept {
  *this = std::move(other);
}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  std::swap(functions, other.functions);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (address)
    functions->cuMemFree_v2(address);
}

Kernel::Kernel(const DriverFunctions &functions, void *module, void *function)
    : functions(&functions), module(module), function(function) {}

Kernel::Kernel(Kernel &&other) noexcept
    : functions(other.functions), module(std::exchange(other.module, nullptr)),
      function(std::exchange(other.function, nullptr)) {}

Kernel::~Kernel() {
  if (module)
    functions->cuModuleUnload(module);
}

int Kernel::getNumRegisters() const {
  int value = 0;
  functions->cuFuncGetAttribute(&value, kNumRegisters, function);
  return value;
}

int Kernel::getLocalBytes() const {
  int value = 0;
  functions->cuFuncGetAttribute(&value, kLocalSizeBytes, function);
  return value;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

Device::Device(const DriverFunctions &functions, int ordinal)
    : functions(functions), ordinal(ordinal) {}

Device::~Device() { functions.cuDevicePrimaryCtxRelease_v2(ordinal); }

Expected<std::unique_ptr<Device>> Device::open(int ordinal) {
  std::string message;
  const DriverFunctions *driver = loadDriver(message);
  if (!driver)
    return makeError(message);
  if (Error error = check(*driver, driver->cuInit(0), "cannot use the GPU"))
    return std::move(error);
  int count = 0;
  if (Error error = check(*driver, driver->cuDeviceGetCount(&count),
                          "cannot count the GPUs"))
    return std::move(error);
  if (ordinal < 0 || ordinal >= count)
    return makeError("there is no GPU " + Twine(ordinal) +
                     ": this machine has " + Twine(count));

  int handle = 0;
  Handle context = nullptr;
  if (Error error =
          check(*driver, driver->cuDeviceGet(&handle, ordinal), "cuDeviceGet"))
    return std::move(error);
  if (Error error =
          check(*driver, driver->cuDevicePrimaryCtxRetain(&context, handle),
                "cannot open GPU " + Twine(ordinal)))
    return std::move(error);
  // From here on the destructor releases the context.
  std::unique_ptr<Device> device(new Device(*driver, handle));
  if (Error error =
          check(*driver, driver->cuCtxSetCurrent(context), "cuCtxSetCurrent"))
    return std::move(error);

  char name[256] = "";
  driver->cuDeviceGetName(name, sizeof(name), handle);
  device->name = name;
  driver->cuDeviceGetAttribute(&device->capability.first,
                               kComputeCapabilityMajor, handle);
  driver->cuDeviceGetAttribute(&device->capability.second,
                               kComputeCapabilityMinor, handle);
  return std::move(device);
}

std::string Device::getChip() const {
  // Architecture-specific code ("a") runs on this very chip only, which is the
  // one we compile for.
  return ("sm_" + Twine(capability.first) + Twine(capability.second) +
          (capability.first >= 9 ? "a" : ""))
      .str();
}

Expected<DeviceBuffer> Device::allocate(uint64_t bytes) {
  DeviceAddress address = 0;
  // The driver refuses to allocate nothing.
  if (Error error =
          check(functions,
                functions.cuMemAlloc_v2(&address, std::max<uint64_t>(bytes, 1)),
                "cannot allocate " + Twine(bytes) + " bytes on the GPU"))
    return std::move(error);
  return DeviceBuffer(functions, address, bytes);
}

Error Device::copyToDevice(DeviceAddress to, llvm::ArrayRef<uint8_t> from) {
  return check(functions,
               functions.cuMemcpyHtoD_v2(to, from.data(), from.size()),
               "cannot copy to the GPU");
}

Error Device::copyToHost(llvm::MutableArrayRef<uint8_t> to,
                         DeviceAddress from) {
  return check(functions, functions.cuMemcpyDtoH_v2(to.data(), from, to.size()),
               "cannot copy from the GPU");
}

Expected<Kernel> Device::load(llvm::StringRef image, llvm::StringRef name) {
  // PTX must end with a zero; a cubin may.
  std::string text = image.str();
  std::vector<char> log(16384, '\0');
  int options[] = {kErrorLogBuffer, kErrorLogBufferSizeBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  Handle module = nullptr;
  Result result =
      functions.cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  if (result != kSuccess) {
    log.back() = '\0';
    llvm::StringRef reason = llvm::StringRef(log.data()).rtrim();
    return check(functions, result,
                 "the driver cannot load the kernel" +
                     (reason.empty() ? Twine() : ": " + reason));
  }
  Handle function = nullptr;
  Kernel kernel(functions, module, nullptr);
  if (Error error = check(
          functions,
          functions.cuModuleGetFunction(&function, module, name.str().c_str()),
          "there is no kernel '" + name + "' in this module"))
    return std::move(error);
  kernel.function = function;
  return std::move(kernel);
}

Error Device::launch(const Kernel &kernel, const LaunchShape &shape,
                     llvm::ArrayRef<uint8_t> parameters) {
  if (shape.dynamicSharedBytes) {
    if (Error error =
            check(functions,
                  functions.cuFuncSetAttribute(
                      kernel.function, kMaxDynamicSharedSizeBytes,
                      static_cast<int>(shape.dynamicSharedBytes)),
                  Twine(shape.dynamicSharedBytes) +
                      " bytes of shared memory are more than this GPU has"))
      return error;
  }
  // Keys of the `extra` list: a whole parameter buffer instead of a pointer for
  // each parameter.
  std::vector<uint8_t> buffer(parameters.begin(), parameters.end());
  size_t size = buffer.size();
  void *extra[] = {reinterpret_cast<void *>(1), buffer.data(),
                   reinterpret_cast<void *>(2), &size, nullptr};
  return check(
      functions,
      functions.cuLaunchKernel(kernel.function, shape.grid[0], shape.grid[1],
                               shape.grid[2], shape.block[0], shape.block[1],
                               shape.block[2], shape.dynamicSharedBytes,
                               /*stream=*/nullptr, /*parameters=*/nullptr,
                               buffer.empty() ? nullptr : extra),
      "cannot launch the kernel");
}

Error Device::synchronize() {
  return check(functions, functions.cuCtxSynchronize(),
               "the kernel failed on the GPU");
}

Expected<double> Device::measure(const Kernel &kernel, const LaunchShape &shape,
                                 llvm::ArrayRef<uint8_t> parameters,
                                 unsigned count) {
  Handle events[2] = {nullptr, nullptr};
  auto destroyEvents = [&] {
    for (Handle event : events)
      if (event)
        functions.cuEventDestroy_v2(event);
  };
  for (Handle &event : events) {
    if (Error error = check(functions, functions.cuEventCreate(&event, 0),
                            "cannot create an event")) {
      destroyEvents();
      return std::move(error);
    }
  }

  std::vector<double> times;
  Error error = launch(kernel, shape, parameters);
  for (unsigned run = 0; run < count && !error; ++run) {
    float milliseconds = 0;
    functions.cuEventRecord(events[0], nullptr);
    error = launch(kernel, shape, parameters);
    functions.cuEventRecord(events[1], nullptr);
    if (!error)
      error = check(functions, functions.cuEventSynchronize(events[1]),
                    "the kernel failed on the GPU");
    functions.cuEventElapsedTime(&milliseconds, events[0], events[1]);
    times.push_back(milliseconds * 1e3);
  }
  destroyEvents();
  if (error)
    return std::move(error);
  if (times.empty())
    return 0.0;
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}
