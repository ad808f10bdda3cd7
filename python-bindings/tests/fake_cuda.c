/*===- fake_cuda.c - A driver without a device ----------------------------===//
 *
 * Part of the TileDialect project, under the Apache License v2.0 with LLVM
 * Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * For programs that tests run; fake_gpu.c is for launches in the tests' own
 * process. As libcuda.so.1 it offers one device of compute capability 9.0,
 * whose memory is the host's, and which runs nothing. In the environment,
 *
 * - FAKE_CUDA_LOG is the file to which calls that matter are appended;
 * - FAKE_CUDA_PARAMETERS has the sizes in bytes of the parameters of launched
 *   kernels, "8,8,4", whose bytes are then logged in hexadecimal;
 * - FAKE_CUDA_FAIL, "cuModuleLoadData=209", makes this function fail so.
 *
 *===----------------------------------------------------------------------===*/

#include "fake_cuda.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char device_context, device_module;
static CUcontext current;
/* Names of functions are their handles. */
static char names[64][256];
static int num_names;

static void write_line(const char *format, ...) {
  const char *path = getenv("FAKE_CUDA_LOG");
  FILE *file = path ? fopen(path, "a") : NULL;
  va_list arguments;
  if (!file)
    return;
  va_start(arguments, format);
  vfprintf(file, format, arguments);
  va_end(arguments);
  fputc('\n', file);
  fclose(file);
}

static CUresult outcome(const char *function) {
  const char *failure = getenv("FAKE_CUDA_FAIL");
  size_t length = strlen(function);
  if (failure && !strncmp(failure, function, length) && failure[length] == '=')
    return atoi(failure + length + 1);
  return CUDA_SUCCESS;
}

static CUresult outcome_in_context(const char *function) {
  return current ? outcome(function) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuInit(unsigned flags) {
  return flags ? CUDA_ERROR_INVALID_VALUE : outcome("cuInit");
}

CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name) {
  *name = error ? "CUDA_ERROR_FAKE" : "CUDA_SUCCESS";
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = error ? "an error that the test asked for" : "no error";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  *count = 1;
  return outcome("cuDeviceGetCount");
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return ordinal ? CUDA_ERROR_INVALID_VALUE : outcome("cuDeviceGet");
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  (void)device;
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  (void)device;
  *context = (CUcontext)&device_context;
  return outcome("cuDevicePrimaryCtxRetain");
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = current;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
  return outcome_in_context("cuCtxSynchronize");
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  CUresult result = outcome_in_context("cuModuleLoadData");
  int is_cubin = !memcmp(image, "\177ELF", 4);
  if (result != CUDA_SUCCESS)
    return result;
  if (!is_cubin && !strstr(image, ".visible .entry"))
    return CUDA_ERROR_INVALID_IMAGE;
  write_line("load %s", is_cubin ? "cubin" : "ptx");
  *module = (CUmodule)&device_module;
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  (void)module;
  write_line("unload");
  return outcome_in_context("cuModuleUnload");
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  CUresult result = outcome("cuModuleGetFunction");
  if (module != (CUmodule)&device_module || num_names == 64)
    return CUDA_ERROR_INVALID_VALUE;
  if (result != CUDA_SUCCESS)
    return result;
  snprintf(names[num_names], sizeof names[0], "%s", name);
  *function = (CUfunction)names[num_names++];
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  (void)function;
  *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS ? 32 : 0;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  write_line("attribute %s %d=%d", (const char *)function, attribute, value);
  return outcome("cuFuncSetAttribute");
}

/* The bytes of all parameters in hexadecimal, with a space between parameters.
 */
static void print_parameters(char *text, size_t size, void **parameters) {
  const char *sizes = getenv("FAKE_CUDA_PARAMETERS");
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; sizes && *sizes; ++i) {
    char *end;
    long count = strtol(sizes, &end, 10);
    for (long j = 0; j < count && used + 4 < size; ++j)
      used += (size_t)snprintf(text + used, size - used, "%s%02x", j ? "" : " ",
                               ((unsigned char *)parameters[i])[j]);
    sizes = *end == ',' ? end + 1 : "";
  }
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                        unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **parameters, void **extra) {
  CUresult result = outcome_in_context("cuLaunchKernel");
  char text[4096];
  if (result != CUDA_SUCCESS)
    return result;
  if (extra || !grid_x || !grid_y || !grid_z)
    return CUDA_ERROR_INVALID_VALUE;
  print_parameters(text, sizeof text, parameters);
  write_line("launch %s grid %u,%u,%u block %u,%u,%u shared %u stream %zu "
             "parameters%s",
             (const char *)function, grid_x, grid_y, grid_z, block_x, block_y,
             block_z, shared_bytes, (size_t)stream, text);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **extra) {
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute *attribute = &config->attrs[i];
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      write_line("programmatic %d",
                 attribute->value.programmaticStreamSerializationAllowed);
    else if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      write_line("cooperative %d", attribute->value.cooperative);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  return cuLaunchKernel(function, config->gridDimX, config->gridDimY,
                        config->gridDimZ, config->blockDimX, config->blockDimY,
                        config->blockDimZ, config->sharedMemBytes,
                        config->hStream, parameters, extra);
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t size) {
  *address = (CUdeviceptr)(size_t)aligned_alloc(256, (size + 255) / 256 * 256);
  return outcome_in_context("cuMemAlloc");
}

CUresult cuMemFree(CUdeviceptr address) {
  free((void *)(size_t)address);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) {
  memcpy((void *)(size_t)to, from, size);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) {
  memcpy(to, (void *)(size_t)from, size);
  return CUDA_SUCCESS;
}
