//===- gemm_mma.cu - C = A * B with cp.async, ldmatrix and mma.sync -------------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A is m x k, B is k x n, both f16 and row-major; C is f32.  A block of 128
// threads computes 128 x 128 in steps of k = 32 from a ring of three buffers.
// Extents are multiples of the tile.  gemm_no_wait lacks the wait for its copies.
//
// nvcc -ptx -arch=sm_80 gemm_mma.cu
//
//===----------------------------------------------------------------------===//

#include <cuda_fp16.h>

constexpr int tileM = 128, tileN = 128, tileK = 32, stages = 3;

struct Shared {
  __half a[stages][tileM * tileK];
  __half b[stages][tileK * tileN];
};

__device__ unsigned addressOf(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(addressOf(to)),
               "l"(from)
               : "memory");
}

// 16-byte chunks are permuted so that ldmatrix has no bank conflicts.
__device__ int placeA(int row, int chunk) {
  return row * tileK + ((chunk ^ (row >> 1)) & 3) * 8;
}
__device__ int placeB(int row, int chunk) {
  return row * tileN + (chunk ^ (row & 7)) * 8;
}

__device__ void loadTiles(Shared &shared, int stage, const __half *a,
                          const __half *b, int n, int k, int step) {
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    int chunk = i * 128 + t;
    int row = chunk / 4, column = chunk % 4;
    copy16(&shared.a[stage][placeA(row, column)],
           a + (blockIdx.y * tileM + row) * k + step * tileK + column * 8);
    row = chunk / 16;
    column = chunk % 16;
    copy16(&shared.b[stage][placeB(row, column)],
           b + (step * tileK + row) * n + blockIdx.x * tileN + column * 8);
  }
}

__device__ void multiply(const Shared &shared, int stage, float (&c)[4][8][4]) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int rowOfWarp = warp / 2 * 64, columnOfWarp = warp % 2 * 64;
  for (int kk = 0; kk < tileK / 16; ++kk) {
    unsigned a[4][4], b[8][2];
    for (int i = 0; i < 4; ++i) {
      const __half *from = &shared.a[stage][placeA(
          rowOfWarp + i * 16 + lane % 16, kk * 2 + lane / 16)];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, "
                   "[%4];"
                   : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3])
                   : "r"(addressOf(from))
                   : "memory");
    }
    for (int j = 0; j < 8; j += 2) {
      const __half *from = &shared.b[stage][placeB(
          kk * 16 + lane % 16, columnOfWarp / 8 + j + lane / 16)];
      asm volatile(
          "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
          : "=r"(b[j][0]), "=r"(b[j][1]), "=r"(b[j + 1][0]), "=r"(b[j + 1][1])
          : "r"(addressOf(from))
          : "memory");
    }
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 8; ++j)
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[i][j][0]), "+f"(c[i][j][1]), "+f"(c[i][j][2]),
              "+f"(c[i][j][3])
            : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]),
              "r"(b[j][0]), "r"(b[j][1]));
  }
}

template <bool waits>
__device__ void gemmBody(const __half *a, const __half *b, float *c, int n,
                         int k) {
  extern __shared__ __align__(128) unsigned char memory[];
  Shared &shared = *reinterpret_cast<Shared *>(memory);
  float sums[4][8][4] = {};
  int steps = k / tileK;
  for (int s = 0; s < stages - 1; ++s) {
    if (s < steps)
      loadTiles(shared, s, a, b, n, k, s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int step = 0; step < steps; ++step) {
    if (waits)
      asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
    __syncthreads();
    int next = step + stages - 1;
    if (next < steps)
      loadTiles(shared, next % stages, a, b, n, k, next);
    asm volatile("cp.async.commit_group;" ::: "memory");
    multiply(shared, step % stages, sums);
  }
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 8; ++j)
      for (int e = 0; e < 4; e += 2) {
        int row = blockIdx.y * tileM + warp / 2 * 64 + i * 16 + lane / 4 +
                  e / 2 * 8;
        int column = blockIdx.x * tileN + warp % 2 * 64 + j * 8 + lane % 4 * 2;
        *reinterpret_cast<float2 *>(c + row * n + column) =
            make_float2(sums[i][j][e], sums[i][j][e + 1]);
      }
}

extern "C" __global__ void __launch_bounds__(128)
    gemm(const __half *a, const __half *b, float *c, int n, int k) {
  gemmBody<true>(a, b, c, n, k);
}

extern "C" __global__ void __launch_bounds__(128)
    gemm_no_wait(const __half *a, const __half *b, float *c, int n, int k) {
  gemmBody<false>(a, b, c, n, k);
}
