//===- DifferentialDevice.cpp - The emulator and the GPU ---*- C++ -*-===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include <cstdlib>
#include <sstream>

#ifdef ON_GPU
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>
#else
#include "TileDialect/Emulator/Emulator.h"
#include "TileDialect/Emulator/TensorMap.h"
#endif

using namespace differential;

void differential::die(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

std::string differential::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (text.str().empty())
    die("cannot read " + path);
  return text.str();
}

std::vector<std::string> differential::split(const std::string &text,
                                             char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

#ifdef ON_GPU

struct Device::State {
  CUdevice device = 0;
  CUmodule module = nullptr;
  decltype(&cuInit) init;
  decltype(&cuDeviceGet) getDevice;
  decltype(&cuDevicePrimaryCtxRetain) retain;
  decltype(&cuCtxSetCurrent) setCurrent;
  decltype(&cuModuleLoadDataEx) loadModule;
  decltype(&cuModuleUnload) unloadModule;
  decltype(&cuModuleGetFunction) getFunction;
  decltype(&cuFuncSetAttribute) setAttribute;
  decltype(&cuMemAlloc) allocate;
  decltype(&cuMemcpyHtoD) toDevice;
  decltype(&cuMemcpyDtoH) toHost;
  decltype(&cuLaunchKernel) launchKernel;
  decltype(&cuCtxSynchronize) synchronize;
  decltype(&cuTensorMapEncodeTiled) encode;
  decltype(&cuGetErrorName) errorName;

  State();
  std::string nameOf(CUresult result) {
    const char *name = nullptr;
    errorName(result, &name);
    return name ? name : "CUDA error " + std::to_string(result);
  }
  void check(CUresult result, const std::string &what) {
    if (result != CUDA_SUCCESS)
      die(what + ": " + nameOf(result));
  }
};

Device::State::State() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library)
    die("no libcuda.so.1");
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(
        dlsym(library, name));
    if (!function)
      die(name);
  };
  find(init, "cuInit");
  find(getDevice, "cuDeviceGet");
  find(retain, "cuDevicePrimaryCtxRetain");
  find(setCurrent, "cuCtxSetCurrent");
  find(loadModule, "cuModuleLoadDataEx");
  find(unloadModule, "cuModuleUnload");
  find(getFunction, "cuModuleGetFunction");
  find(setAttribute, "cuFuncSetAttribute");
  find(allocate, "cuMemAlloc_v2");
  find(toDevice, "cuMemcpyHtoD_v2");
  find(toHost, "cuMemcpyDtoH_v2");
  find(launchKernel, "cuLaunchKernel");
  find(synchronize, "cuCtxSynchronize");
  find(encode, "cuTensorMapEncodeTiled");
  find(errorName, "cuGetErrorName");
  check(init(0), "cuInit");
  check(getDevice(&device, 0), "cuDeviceGet");
}

Device::Device() : state(new State) {
  CUcontext context;
  CUdeviceptr first, second;
  state->check(state->retain(&context, state->device), "cuCtxRetain");
  state->check(state->setCurrent(context), "cuCtxSetCurrent");
  state->check(state->allocate(&first, capacity), "cuMemAlloc");
  state->check(state->allocate(&second, capacity), "cuMemAlloc");
  in = first;
  out = second;
}
Device::~Device() = default;

void Device::loadText(const std::string &text) {
  if (state->module)
    state->check(state->unloadModule(state->module), "cuModuleUnload");
  std::vector<char> log(16384);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  CUresult result =
      state->loadModule(&state->module, text.c_str(), 2, options, values);
  state->check(result, std::string("cuModuleLoadDataEx: ") + log.data());
}

bool Device::makeMap(const MapShape &shape, uint64_t address, uint8_t *bytes) {
  alignas(64) CUtensorMap map;
  CUresult result = state->encode(
      &map, CUtensorMapDataType(shape.type), shape.dim.size(),
      reinterpret_cast<void *>(address), shape.dim.data(),
      shape.stride.empty() ? shape.dim.data() : shape.stride.data(),
      shape.box.data(), shape.step.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      CUtensorMapSwizzle(shape.swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CUtensorMapFloatOOBfill(shape.fill));
  std::memcpy(bytes, &map, 128);
  return result == CUDA_SUCCESS;
}

void Device::write(uint64_t address, const void *data, size_t bytes) {
  state->check(state->toDevice(address, data, bytes), "cuMemcpyHtoD");
}

void Device::read(uint64_t address, void *data, size_t bytes) {
  state->check(state->toHost(data, address, bytes), "cuMemcpyDtoH");
}

std::string Device::launch(const std::string &kernel, const Shape &shape,
                           const std::vector<Bytes> &arguments) {
  CUfunction function;
  state->check(state->getFunction(&function, state->module, kernel.c_str()),
               kernel);
  if (shape.sharedBytes > 48 * 1024)
    state->check(state->setAttribute(
                     function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                     shape.sharedBytes),
                 kernel);
  std::vector<void *> pointers;
  for (const Bytes &argument : arguments)
    pointers.push_back(const_cast<uint8_t *>(argument.data()));
  CUresult result =
      state->launchKernel(function, shape.grid[0], shape.grid[1], shape.grid[2],
                          shape.block[0], shape.block[1], shape.block[2],
                          shape.sharedBytes, nullptr, pointers.data(), nullptr);
  if (result == CUDA_SUCCESS)
    result = state->synchronize();
  return result == CUDA_SUCCESS ? "" : state->nameOf(result);
}

std::string Device::captured(const std::function<void()> &work) {
  std::fflush(stdout);
  int saved = dup(1);
  std::FILE *file = std::tmpfile();
  if (saved < 0 || !file || dup2(fileno(file), 1) < 0)
    die("cannot redirect the output");
  work();
  std::fflush(stdout);
  dup2(saved, 1);
  close(saved);
  std::rewind(file);
  std::string text;
  for (int c; (c = std::fgetc(file)) != EOF;)
    text += char(c);
  std::fclose(file);
  return text;
}

#else

namespace emu = tile_dialect::emulator;

static emu::EmulatorOptions oneThread() {
  emu::EmulatorOptions options;
  options.threads = 1;
  return options;
}

struct Device::State {
  emu::Emulator emulator{oneThread()};
  std::unique_ptr<emu::Module> module;
};

Device::Device() : state(new State) {
  auto first = state->emulator.memory().allocate(capacity, "in");
  auto second = state->emulator.memory().allocate(capacity, "out");
  if (!first || !second)
    die("no memory");
  in = *first;
  out = *second;
}
Device::~Device() = default;

void Device::loadText(const std::string &text) {
  if (state->module)
    state->emulator.unload(*state->module);
  auto parsed = emu::Module::parse(text, "input.ptx");
  if (!parsed)
    die(llvm::toString(parsed.takeError()));
  state->module = std::move(*parsed);
}

bool Device::makeMap(const MapShape &shape, uint64_t address, uint8_t *bytes) {
  emu::TensorMapArguments arguments;
  arguments.dataType = emu::TensorDataType(shape.type);
  arguments.globalAddress = address;
  arguments.globalDim = shape.dim;
  arguments.globalStrides = shape.stride;
  arguments.boxDim = shape.box;
  arguments.elementStrides = shape.step;
  arguments.swizzle = emu::TensorSwizzle(shape.swizzle);
  arguments.fill = emu::TensorFill(shape.fill);
  std::memset(bytes, 0, 128);
  llvm::Error error = emu::encodeTensorMap(bytes, arguments);
  bool good = !error;
  llvm::consumeError(std::move(error));
  return good;
}

void Device::write(uint64_t address, const void *data, size_t bytes) {
  std::memcpy(state->emulator.memory().hostPointer(address, bytes), data,
              bytes);
}

void Device::read(uint64_t address, void *data, size_t bytes) {
  std::memcpy(data, state->emulator.memory().hostPointer(address, bytes),
              bytes);
}

std::string Device::launch(const std::string &kernel, const Shape &shape,
                           const std::vector<Bytes> &arguments) {
  emu::Launch launch;
  launch.kernel = kernel;
  launch.grid = emu::Dim3{shape.grid[0], shape.grid[1], shape.grid[2]};
  launch.block = emu::Dim3{shape.block[0], shape.block[1], shape.block[2]};
  launch.dynamicSharedBytes = shape.sharedBytes;
  for (const Bytes &argument : arguments)
    launch.arguments.addBytes(argument);
  auto result = state->emulator.launch(*state->module, launch);
  if (!result)
    return llvm::toString(result.takeError());
  return result->reports.empty() ? "" : result->reports[0].str();
}

std::string Device::captured(const std::function<void()> &work) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  state->emulator.options().output = &stream;
  work();
  state->emulator.options().output = nullptr;
  return text;
}

#endif

std::string Device::run(const std::string &kernel, unsigned threads,
                        const Words &inWords, Words &outWords,
                        const std::vector<Bytes> &arguments) {
  write(in, inWords.data(), inWords.size() * 4);
  write(out, outWords.data(), outWords.size() * 4);
  Shape shape;
  shape.block[0] = threads;
  std::string error = launch(kernel, shape, arguments);
  if (error.empty())
    read(out, outWords.data(), outWords.size() * 4);
  return error;
}

Recorder::Recorder(Device &device, const std::string &path)
    : device(device), path(path), file(path, std::ios::binary) {
  std::ifstream failed(path + ".failed");
  for (std::string name; std::getline(failed, name);)
    skipped.insert(name);
}

void Recorder::record(const std::string &name, const std::string &kernel,
                      unsigned threads, const Words &in, size_t outWords,
                      const std::vector<Bytes> &arguments, Words out) {
  out.resize(outWords, 0xDEADBEEF);
  if (!skips(name))
    check(name, device.run(kernel, threads, in, out, arguments));
  write(name, out);
}

void Recorder::write(const std::string &name, const Words &words) {
  uint32_t sizes[2] = {uint32_t(name.size()), uint32_t(words.size())};
  file.write(reinterpret_cast<const char *>(sizes), 8);
  file.write(name.data(), name.size());
  file.write(reinterpret_cast<const char *>(words.data()), words.size() * 4);
}

void Recorder::check(const std::string &name, const std::string &error) {
  if (error.empty())
    return;
  std::printf("%s: %s\n", name.c_str(), error.c_str());
  ++failures;
#ifdef ON_GPU
  std::ofstream(path + ".failed", std::ios::app) << name << '\n';
  std::exit(3);
#endif
}

//===----------------------------------------------------------------------===//
// Scalar kernels
//===----------------------------------------------------------------------===//

void differential::runScalar(Device &device, Recorder &recorder,
                             const std::string &where) {
  constexpr size_t setBytes = 3 * 1024 * 8;
  std::string inputs = readFile(where + "/scalar_inputs.bin"), loaded;
  for (const std::string &line : split(readFile(where + "/scalar.txt"), '\n')) {
    // Name, module, kernel, threads, input set, bytes of a lane's result.
    auto parts = split(line, '\t');
    if (parts.size() < 6)
      die("scalar.txt: " + line);
    if (parts[1] != loaded)
      device.loadText(readFile(where + "/" + parts[1] + ".ptx"));
    loaded = parts[1];
    unsigned threads = std::atoi(parts[3].c_str());
    size_t set = std::atoi(parts[4].c_str());
    Words in(setBytes / 4);
    std::memcpy(in.data(), inputs.data() + set * setBytes, setBytes);
    recorder.record(
        parts[0], parts[2], threads, in,
        threads * std::atoi(parts[5].c_str()) / 4,
        {bytesOf(device.inAddress()), bytesOf(device.outAddress())});
  }
}
