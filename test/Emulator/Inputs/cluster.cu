//===- cluster.cu - Multicast, remote barriers and distributed shared memory ----===//
//
// Part of the TileDialect project, under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc -ptx -arch=sm_90a cluster.cu
//
//===----------------------------------------------------------------------===//

#include <cooperative_groups.h>
#include <cuda.h>

namespace cg = cooperative_groups;

__device__ unsigned addressOf(const void *pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void waitParity(unsigned long long *barrier, int parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, "
               "[%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(addressOf(barrier)),
               "r"(parity)
               : "memory");
}

// Block r of a cluster of four loads row r of a 4 x 64 tensor to all of them;
// each block writes all four rows, and its rank.
extern "C" __global__ void __cluster_dims__(4)
    multicast(const __grid_constant__ CUtensorMap map, int *out, int *ranks) {
  __shared__ alignas(128) int rows[4][64];
  __shared__ alignas(8) unsigned long long full;
  unsigned rank = cg::this_cluster().block_rank();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(
                     addressOf(&full))
                 : "memory");
  }
  cg::this_cluster().sync();
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
        "bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
            addressOf(rows[rank])),
        "l"(&map), "r"(0), "r"(rank), "r"(addressOf(&full)),
        "h"((unsigned short)0xF)
        : "memory");
  waitParity(&full, 0);
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    out[blockIdx.x * 256 + i] = (&rows[0][0])[i];
  if (threadIdx.x == 0)
    ranks[blockIdx.x] = rank;
  cg::this_cluster().sync();
}

// A ring: each block puts data into its neighbour's shared memory with st.async
// and with a bulk copy, which complete on the neighbour's barrier.
extern "C" __global__ void __cluster_dims__(4)
    ring(const int *in, int *out) {
  __shared__ alignas(128) int mine[128], received[128], direct[32];
  __shared__ alignas(8) unsigned long long full, done;
  unsigned rank = cg::this_cluster().block_rank();
  unsigned next = (rank + 1) % 4;
  for (int i = threadIdx.x; i < 128; i += blockDim.x)
    mine[i] = in[blockIdx.x * 128 + i];
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "mbarrier.init.shared::cta.b64 [%1], 32;\n"
                 "fence.mbarrier_init.release.cluster;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 640;" ::"r"(
                     addressOf(&full)),
                 "r"(addressOf(&done))
                 : "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  cg::this_cluster().sync();
  unsigned remoteFull, remoteDirect, remoteReceived, remoteDone;
  auto map = [&](unsigned &to, const void *from) {
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(to)
                 : "r"(addressOf(from)), "r"(next));
  };
  map(remoteFull, &full);
  map(remoteDone, &done);
  map(remoteDirect, direct + threadIdx.x);
  map(remoteReceived, received);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 "
               "[%0], %1, [%2];" ::"r"(remoteDirect),
               "r"(int(rank * 1000 + threadIdx.x)), "r"(remoteFull)
               : "memory");
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::"
                 "complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(
                     remoteReceived),
                 "r"(addressOf(mine)), "r"(remoteFull)
                 : "memory");
  waitParity(&full, 0);
  for (int i = threadIdx.x; i < 128; i += blockDim.x)
    out[blockIdx.x * 160 + i] = received[i];
  out[blockIdx.x * 160 + 128 + threadIdx.x] = direct[threadIdx.x];
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::
                   "r"(remoteDone)
               : "memory");
  waitParity(&done, 0);
  cg::this_cluster().sync();
}

// Reads and atomics in the shared memory of other blocks.
extern "C" __global__ void __cluster_dims__(2, 2) distributed(int *out) {
  __shared__ int values[32];
  __shared__ int sum;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank();
  values[threadIdx.x] = rank * 100 + threadIdx.x;
  if (threadIdx.x == 0)
    sum = 0;
  cluster.sync();
  int *other = cluster.map_shared_rank(values, (rank + 1) % 4);
  int value = other[31 - threadIdx.x];
  atomicAdd(cluster.map_shared_rank(&sum, 0), value);
  cluster.sync();
  int block = blockIdx.y * gridDim.x + blockIdx.x;
  out[block * 33 + threadIdx.x] = value;
  if (threadIdx.x == 0 && rank == 0)
    out[block * 33 + 32] = sum;
  cluster.sync();
}
