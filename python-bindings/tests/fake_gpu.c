/*===- fake_gpu.c - A driver that records launches ------------------------===//
 *
 * Part of the TileDialect project, under the Apache License v2.0 with LLVM
 * Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * As libcuda.so.1 it offers two devices of compute capability 9.0, which run
 * nothing. Device d "has" the memory from address (d + 1) << 40 on. Modules are
 * PTX, from which the sizes of parameters are read. Functions whose names start
 * with fake_ are for the tests.
 *
 * It also holds a DLPack exchange API, for a subclass of bytes whose objects
 * contain a DLTensor.
 *
 *===----------------------------------------------------------------------===*/

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LAUNCHES 4096
#define MAX_PARAMETERS 160
#define NUM_DEVICES 2

typedef struct {
  char name[128];
  int num_parameters;
  int sizes[MAX_PARAMETERS];
  const char *image;
} Function;

typedef struct {
  void *function;
  uint64_t stream;
  uint32_t grid[3], block[3], shared, num_bytes;
  /* Programmatic stream serialisation. */
  uint32_t programmatic;
  /* Whether all blocks run at once. */
  uint32_t cooperative;
  uint8_t bytes[8 * MAX_PARAMETERS];
} Launch;

static int contexts[NUM_DEVICES] = {0, 1};
static __thread int *current;
static Launch launches[MAX_LAUNCHES];
static int64_t num_launches, num_waits, num_events, num_modules;
static int launch_status, attribute_status, is_capturing;
static uint64_t waited_for, waiting;

/* For the tests. */

int64_t fake_num_launches(void) { return num_launches; }
Launch *fake_launch(int64_t index) { return &launches[index % MAX_LAUNCHES]; }
int64_t fake_num_waits(void) { return num_waits; }
int64_t fake_num_live_events(void) { return num_events; }
int64_t fake_num_modules(void) { return num_modules; }
uint64_t fake_waited_for(void) { return waited_for; }
uint64_t fake_waiting(void) { return waiting; }
void fake_set_capturing(int value) { is_capturing = value; }
void fake_set_launch_status(int status) { launch_status = status; }
void fake_set_attribute_status(int status) { attribute_status = status; }
void fake_set_context(int device) {
  current = device < 0 ? 0 : &contexts[device];
}

/* The driver. */

/* As the real one, it serves no child of the process that has initialised it. */
static pid_t owner;

int cuInit(unsigned flags) {
  if (owner && owner != getpid())
    return 3;
  owner = getpid();
  return flags != 0;
}

int cuGetErrorName(int status, const char **name) {
  *name = status == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : status == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                          : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}

int cuGetErrorString(int status, const char **text) {
  *text = status == 2 ? "out of memory" : "invalid argument";
  return 0;
}

int cuCtxGetCurrent(void **context) {
  *context = current;
  return 0;
}

int cuCtxSetCurrent(void *context) {
  current = context;
  return 0;
}

int cuCtxGetDevice(int *device) {
  if (!current)
    return 201;
  *device = *current;
  return 0;
}

int cuCtxSynchronize(void) { return 0; }

int cuDeviceGet(int *device, int ordinal) {
  if (ordinal < 0 || ordinal >= NUM_DEVICES)
    return 101;
  *device = ordinal;
  return 0;
}

int cuDeviceGetCount(int *count) {
  if (owner != getpid())
    return 3;
  *count = NUM_DEVICES;
  return 0;
}

int cuDeviceGetName(char *name, int size, int device) {
  strncpy(name, device ? "fake 1" : "fake 0", size);
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1000 + attribute;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &contexts[device];
  return 0;
}

int cuModuleLoadData(void **module, const void *image) {
  if (!current)
    return 201;
  ++num_modules;
  *module = strdup(image);
  return 0;
}

/* The size of the parameter whose declaration starts after `.param`. */
static int size_of_parameter(const char *text) {
  const char *end = text + strcspn(text, ",)");
  const char *array = memchr(text, '[', end - text);
  if (array)
    return atoi(array + 1);
  text += strcspn(text, "0123456789");
  return atoi(text) / 8;
}

int cuModuleGetFunction(void **result, void *module, const char *name) {
  char head[160] = ".entry ";
  strncat(head, name, 127);
  const char *text = strstr(module, head);
  if (!text)
    return 500;
  Function *function = calloc(1, sizeof *function);
  strncpy(function->name, name, 127);
  const char *end = strchr(text, ')');
  while ((text = strstr(text, ".param")) && text < end) {
    text += strlen(".param");
    function->sizes[function->num_parameters++] = size_of_parameter(text);
  }
  *result = function;
  return 0;
}

int cuFuncGetAttribute(int *value, int attribute, void *function) {
  *value = attribute;
  return 0;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
  return attribute_status;
}

int cuPointerGetAttribute(void *result, int attribute, uint64_t address) {
  uint64_t device = (address >> 40) - 1;
  if (attribute != 9 || device >= NUM_DEVICES)
    return 1;
  *(int *)result = (int)device;
  return 0;
}

int cuStreamIsCapturing(void *stream, int *result) {
  *result = is_capturing;
  return 0;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  ++num_waits;
  waiting = (uint64_t)stream;
  return 0;
}

int cuEventCreate(void **event, unsigned flags) {
  ++num_events;
  *event = &num_events;
  return 0;
}

int cuEventRecord(void *event, void *stream) {
  waited_for = (uint64_t)stream;
  return 0;
}

int cuEventDestroy_v2(void *event) {
  --num_events;
  return 0;
}

int cuLaunchKernel(void *handle, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void *stream,
                   void **parameters, void **extra) {
  Function *function = handle;
  if (!current)
    return 201;
  if (launch_status)
    return launch_status;
  Launch *launch = &launches[num_launches++ % MAX_LAUNCHES];
  launch->function = function;
  launch->stream = (uint64_t)stream;
  launch->grid[0] = grid_x, launch->grid[1] = grid_y, launch->grid[2] = grid_z;
  launch->block[0] = block_x, launch->block[1] = block_y;
  launch->block[2] = block_z;
  launch->shared = shared;
  launch->programmatic = launch->cooperative = 0;
  launch->num_bytes = 0;
  for (int i = 0; i < function->num_parameters; ++i) {
    memcpy(launch->bytes + launch->num_bytes, parameters[i],
           function->sizes[i]);
    launch->num_bytes += function->sizes[i];
  }
  return 0;
}

/* As in cuda.h. */
typedef struct {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int programmatic_stream_serialization_allowed;
    int cooperative;
  } value;
} LaunchAttribute;

typedef struct {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  void *stream;
  LaunchAttribute *attributes;
  unsigned num_attributes;
} LaunchConfig;

int cuLaunchKernelEx(const LaunchConfig *config, void *function,
                     void **parameters, void **extra) {
  int status = cuLaunchKernel(
      function, config->grid_x, config->grid_y, config->grid_z, config->block_x,
      config->block_y, config->block_z, config->shared, config->stream,
      parameters, extra);
  if (status)
    return status;
  for (unsigned i = 0; i < config->num_attributes; ++i) {
    const LaunchAttribute *attribute = &config->attributes[i];
    Launch *launch = &launches[(num_launches - 1) % MAX_LAUNCHES];
    if (attribute->id == 6) /* PROGRAMMATIC_STREAM_SERIALIZATION */
      launch->programmatic =
          attribute->value.programmatic_stream_serialization_allowed;
    else if (attribute->id == 2) /* COOPERATIVE */
      launch->cooperative = attribute->value.cooperative;
    else
      return 1;
  }
  return 0;
}

/* DLPack. */

static uint64_t streams[NUM_DEVICES];
static size_t header_size;

void fake_set_stream(int device, uint64_t stream) { streams[device] = stream; }
/* Where the contents of a bytes object start. */
void fake_set_header_size(size_t size) { header_size = size; }

static int describe(void *object, void *tensor) {
  memcpy(tensor, (char *)object + header_size, 48);
  return 0;
}

static int get_stream(int32_t type, int32_t device, void **stream) {
  *stream = (void *)streams[device];
  return 0;
}

typedef struct Api {
  uint32_t major, minor;
  struct Api *previous;
  void *unused[3];
  int (*describe)(void *, void *);
  int (*get_stream)(int32_t, int32_t, void **);
} Api;

static Api api = {1, 3, 0, {0, 0, 0}, describe, get_stream};
/* Of a version that is not known yet, with the other as the older one. */
static Api newer_api = {2, 0, &api, {0, 0, 0}, 0, 0};

void *fake_exchange_api(int newer) { return newer ? &newer_api : &api; }
