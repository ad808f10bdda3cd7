// nvcc -ptx -arch=sm_80 print.cu
#include <cassert>
#include <cstdio>

extern "C" __global__ void print(int i, double d) {
  printf("block %d thread %d: %5d|%-6.2f|%s|%llx|%c%%\n", blockIdx.x,
         threadIdx.x, i, d, "text", 0x123456789abcull, 'z');
}

extern "C" __global__ void fails(int x, double) { assert(x < 7); }
