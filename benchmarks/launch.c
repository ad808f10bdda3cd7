/*===- launch.c - Launches without any library around the driver ----------===//
 *
 * Part of the TileDialect project, under the Apache License v2.0 with LLVM
 * Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * What a launch costs at least: cuLaunchKernel in a loop, with the kernel, the
 * context and the stream of the Python program that calls this. Compiled and
 * called by python.py and launch_overhead.py.
 *
 *===----------------------------------------------------------------------===*/

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

/* The microseconds of the host for one of `count` launches of kernel `name` in
 * `image` with three pointers and two ints; negative if something fails. */
double time_launches(const void *image, const char *name, unsigned threads,
                     void *stream, uint64_t pointer, int count) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (!cuda)
    return -1;
  int (*load)(void **, const void *) = dlsym(cuda, "cuModuleLoadData");
  int (*find)(void **, void *, const char *) =
      dlsym(cuda, "cuModuleGetFunction");
  int (*synchronize)(void) = dlsym(cuda, "cuCtxSynchronize");
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned, unsigned, void *, void **, void **) =
      dlsym(cuda, "cuLaunchKernel");
  void *module, *function;
  if (load(&module, image) || find(&function, module, name))
    return -2;
  uint64_t a = pointer, b = pointer, c = pointer;
  int32_t n = 5, m = 6;
  void *parameters[] = {&a, &b, &c, &n, &m};
  int status = 0;
  for (int i = 0; i < 100; ++i)
    status |=
        launch(function, 1, 1, 1, threads, 1, 1, 0, stream, parameters, 0);
  synchronize();
  double begin = now();
  for (int i = 0; i < count; ++i)
    status |=
        launch(function, 1, 1, 1, threads, 1, 1, 0, stream, parameters, 0);
  double elapsed = now() - begin;
  synchronize();
  return status ? -3 : elapsed / count;
}
