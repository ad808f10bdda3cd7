// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device-side malloc, free, new, delete and alloca.  regenerate.sh makes
// heap.ptx.

#include <cstdlib>

struct Node {
  int value;
  Node *next;
};

/// Each thread builds a list of `i % 7` nodes, adds it up and frees it.
extern "C" __global__ void lists(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Node *head = nullptr;
  for (int j = 0; j < i % 7; ++j)
    head = new Node{i + j, head};
  int sum = 0;
  while (head) {
    sum += head->value;
    Node *next = head->next;
    delete head;
    head = next;
  }
  out[i] = sum;
}

/// Thread 0 of each block allocates what all of its threads then use.
extern "C" __global__ void shared_block(int *out) {
  __shared__ int *memory;
  if (threadIdx.x == 0)
    memory = static_cast<int *>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  memory[threadIdx.x] = threadIdx.x * 3 + blockIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      memory[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0)
    free(memory);
}

/// Fails to allocate: writes 1 where malloc gives null.
extern "C" __global__ void too_much(int *out) {
  out[threadIdx.x] = malloc(size_t(1) << 40) == nullptr;
}

extern "C" __global__ void past_the_end(int *out) {
  int *memory = static_cast<int *>(malloc(10 * sizeof(int)));
  memory[10] = 1;
  out[threadIdx.x] = memory[9];
}

extern "C" __global__ void after_free(int *out) {
  volatile int *memory = static_cast<int *>(malloc(10 * sizeof(int)));
  memory[3] = 1;
  free(const_cast<int *>(memory));
  out[threadIdx.x] = memory[3];
}

extern "C" __global__ void freed_twice(int *out) {
  int *memory = static_cast<int *>(malloc(10 * sizeof(int)));
  out[threadIdx.x] = memory != nullptr;
  free(memory);
  free(memory);
}

extern "C" __global__ void never_written(int *out) {
  int *memory = static_cast<int *>(malloc(10 * sizeof(int)));
  out[threadIdx.x] = memory[3];
}

/// Keeps a block for a later launch.
__device__ int *kept;
extern "C" __global__ void keep(int value) {
  kept = static_cast<int *>(malloc(sizeof(int)));
  *kept = value;
}
extern "C" __global__ void use_kept(int *out) {
  *out = *kept;
  free(kept);
}

/// A stack that grows at run time.
extern "C" __global__ void stack(int *out, int count) {
  int *memory = static_cast<int *>(__builtin_alloca(count * sizeof(int)));
  for (int i = 0; i < count; ++i)
    memory[i] = i * int(threadIdx.x);
  int sum = 0;
  for (int i = 0; i < count; ++i)
    sum += memory[(i * 5 + 1) % count];
  out[threadIdx.x] = sum;
}
