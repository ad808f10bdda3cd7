//===- gemm_wgmma.cu - C = A * B^T with TMA, an mbarrier ring and wgmma ---------===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A is m x k, B is n x k, f16; C is m x n, f16.  A producer warp fills a ring of
// buffers of 64 elements of k (128-byte swizzle); two warpgroups compute 64 x 128
// each and store through TMA.  Extents are multiples of the 128 x 128 tile.
// Each kernel but the first lacks one piece of synchronisation:
//   gemm_early_release   releases a buffer before its wgmma is done
//   gemm_no_full_wait    does not wait for the loads
//   gemm_no_proxy_fence  lacks the fence before the TMA store
//   gemm_no_wgmma_wait   reads accumulators in flight
//   gemm_lost_arrival    never releases buffers: a deadlock
//
// nvcc -ptx -arch=sm_90a gemm_wgmma.cu
//
//===----------------------------------------------------------------------===//

#include <cuda.h>
#include <cuda_fp16.h>

constexpr int tileM = 128, tileN = 128, tileK = 64, stages = 3;

enum class Bug {
  None,
  EarlyRelease,
  NoFullWait,
  NoProxyFence,
  NoWgmmaWait,
  LostArrival
};

struct Shared {
  __half a[stages][tileM * tileK];
  __half b[stages][tileN * tileK];
  __half c[tileM * tileN];
  unsigned long long full[stages], empty[stages];
};

__device__ unsigned addressOf(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void initBarrier(unsigned long long *barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(
                   addressOf(barrier)),
               "r"(count)
               : "memory");
}
__device__ void wait(unsigned long long *barrier, int parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra ready;\n"
               "bra again;\n"
               "ready:\n"
               "}" ::"r"(addressOf(barrier)),
               "r"(parity)
               : "memory");
}
__device__ void arrive(unsigned long long *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(
                   addressOf(barrier))
               : "memory");
}
__device__ void expect(unsigned long long *barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   addressOf(barrier)),
               "r"(bytes)
               : "memory");
}
__device__ void load(void *to, const CUtensorMap *map, int x, int y,
                     unsigned long long *barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   addressOf(to)),
               "l"(map), "r"(x), "r"(y), "r"(addressOf(barrier))
               : "memory");
}

__device__ unsigned long long descriptor(const __half *pointer) {
  return (addressOf(pointer) & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 |
         1ull << 62;
}

__device__ void multiply(float (&d)[64], unsigned long long a,
                         unsigned long long b, int scale) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
      "%64, %65, p, 1, 1, 0, 0;\n"
      "}"
#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
      : D16(0), D16(16), D16(32), D16(48)
      : "l"(a), "l"(b), "r"(scale));
}

template <Bug bug>
__device__ void gemmBody(const CUtensorMap *a, const CUtensorMap *b,
                         const CUtensorMap *c, int k) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared &shared = *reinterpret_cast<Shared *>(memory);
  int warpgroup = threadIdx.x / 128, steps = k / tileK;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      initBarrier(&shared.full[s], 1);
      initBarrier(&shared.empty[s], 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (warpgroup == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x != 256)
      return;
    for (int step = 0; step < steps; ++step) {
      int s = step % stages;
      wait(&shared.empty[s], (step / stages & 1) ^ 1);
      expect(&shared.full[s], sizeof(shared.a[0]) + sizeof(shared.b[0]));
      load(shared.a[s], a, step * tileK, blockIdx.y * tileM, &shared.full[s]);
      load(shared.b[s], b, step * tileK, blockIdx.x * tileN, &shared.full[s]);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[64];
  for (int step = 0; step < steps; ++step) {
    int s = step % stages;
    if (bug != Bug::NoFullWait)
      wait(&shared.full[s], step / stages & 1);
    if (bug == Bug::EarlyRelease && threadIdx.x % 128 == 0)
      arrive(&shared.empty[s]);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int kk = 0; kk < tileK / 16; ++kk)
      multiply(d,
               descriptor(shared.a[s] + warpgroup * 64 * tileK) + kk * 2,
               descriptor(shared.b[s]) + kk * 2, step + kk > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (bug != Bug::NoWgmmaWait || step + 1 < steps)
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (bug != Bug::EarlyRelease && bug != Bug::LostArrival &&
        threadIdx.x % 128 == 0)
      arrive(&shared.empty[s]);
  }
  int t = threadIdx.x % 128, lane = t % 32;
  int row = warpgroup * 64 + t / 32 * 16 + lane / 4;
  for (int i = 0; i < 64; i += 2) {
    int r = row + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2;
    *reinterpret_cast<__half2 *>(&shared.c[r * tileN + column]) =
        __floats2half2_rn(d[i], d[i + 1]);
  }
  if (bug != Bug::NoProxyFence)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("bar.sync 1, 256;" ::: "memory");
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
                 "[%0, {%1, %2}], [%3];" ::"l"(c),
                 "r"(blockIdx.x * tileN), "r"(blockIdx.y * tileM),
                 "r"(addressOf(shared.c))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group.read 0;" ::
                     : "memory");
  }
}

#define KERNEL(name, bug)                                                      \
  extern "C" __global__ void __launch_bounds__(384)                            \
      name(const __grid_constant__ CUtensorMap a,                              \
           const __grid_constant__ CUtensorMap b,                              \
           const __grid_constant__ CUtensorMap c, int k) {                     \
    gemmBody<bug>(&a, &b, &c, k);                                              \
  }
KERNEL(gemm, Bug::None)
KERNEL(gemm_early_release, Bug::EarlyRelease)
KERNEL(gemm_no_full_wait, Bug::NoFullWait)
KERNEL(gemm_no_proxy_fence, Bug::NoProxyFence)
KERNEL(gemm_no_wgmma_wait, Bug::NoWgmmaWait)
KERNEL(gemm_lost_arrival, Bug::LostArrival)
