// Programs that use most of what nvcc emits for kernels without tensor cores.
// nvcc -ptx -arch=sm_90 -lineinfo kernels.cu
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void softmax(const float *in, float *out, int columns) {
  extern __shared__ float scratch[];
  const float *row = in + size_t(blockIdx.x) * columns;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    most = fmaxf(most, row[i]);
  for (int d = 16; d > 0; d /= 2)
    most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  if (threadIdx.x % 32 == 0)
    scratch[threadIdx.x / 32] = most;
  __syncthreads();
  for (unsigned w = 0; w < blockDim.x / 32; ++w)
    most = fmaxf(most, scratch[w]);
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += __expf(row[i] - most);
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0)
    scratch[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (unsigned w = 0; w < blockDim.x / 32; ++w)
    sum += scratch[w];
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[size_t(blockIdx.x) * columns + i] = __expf(row[i] - most) / sum;
}

extern "C" __global__ void gemm(const __half *a, const __half *b, float *c,
                                int m, int n, int k) {
  __shared__ __half tileA[16][17], tileB[16][17];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 16) {
    int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    tileA[threadIdx.y][threadIdx.x] =
        row < m && ka < k ? a[row * k + ka] : __half(0);
    tileB[threadIdx.y][threadIdx.x] =
        kb < k && column < n ? b[kb * n + column] : __half(0);
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += __half2float(tileA[threadIdx.y][i]) *
             __half2float(tileB[i][threadIdx.x]);
    __syncthreads();
  }
  if (row < m && column < n)
    c[row * n + column] = sum;
}

extern "C" __global__ void histogram(const uint8_t *in, unsigned *bins,
                                     int count) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void functions(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  float *o = out + i * 16;
  o[0] = sinf(x);
  o[1] = cosf(x * 1e5f);
  o[2] = expf(x);
  o[3] = logf(fabsf(x) + 0.1f);
  o[4] = powf(fabsf(x), 1.7f);
  o[5] = erff(x);
  o[6] = tanhf(x);
  o[7] = float(exp(double(x)));
  o[8] = float(sqrt(double(x) * x + 1));
  o[9] = cbrtf(x);
  o[10] = fmodf(x, 0.7f);
  o[11] = atan2f(x, 2.0f);
  o[12] = __fdividef(x, 3.0f) + __frcp_rn(x + 10);
  o[13] = float(1.0 / (double(x) + 20));
  o[14] = floorf(x) + rintf(x) + truncf(x * 3);
  o[15] = lgammaf(fabsf(x) + 1);
}

extern "C" __global__ void integers(const int64_t *in, int64_t *out) {
  int i = threadIdx.x;
  int64_t a = in[2 * i], b = in[2 * i + 1];
  int64_t *o = out + i * 8;
  o[0] = b ? a / b : 0;
  o[1] = b ? a % b : 0;
  o[2] = b ? int64_t(uint64_t(a) / uint64_t(b)) : 0;
  o[3] = int64_t(__umul64hi(a, b));
  o[4] = __popcll(a) + __clzll(b) * 100 + __ffsll(a) * 10000;
  o[5] = int64_t(__brevll(a)) ^ __byte_perm(int(a), int(b), 0x5140);
  o[6] = int(a) % 7 + int(b) / 13;
  unsigned __int128 wide = (unsigned __int128)(uint64_t)a * (uint64_t)b + 99;
  o[7] = int64_t(uint64_t(wide >> 64) + uint64_t(wide));
}

extern "C" __global__ void narrow(const float *in, __nv_fp8_e4m3 *e4m3,
                                  __nv_bfloat16 *bf16, __half2 *half, int n) {
  int i = threadIdx.x;
  if (i >= n)
    return;
  e4m3[i] = __nv_fp8_e4m3(in[i]);
  bf16[i] = __float2bfloat16(in[i]) * __float2bfloat16(2.0f);
  half[i] = __hfma2(__float2half2_rn(in[i]), __floats2half2_rn(2, 3),
                    __floats2half2_rn(1, -1));
}

struct Shape {
  virtual __device__ float area() const = 0;
  float size;
};
struct Square : Shape {
  __device__ Square(float s) { size = s; }
  __device__ float area() const override { return size * size; }
};
struct Circle : Shape {
  __device__ Circle(float s) { size = s; }
  __device__ float area() const override { return 3 * size * size; }
};

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0)
    return n + 1;
  if (n == 0)
    return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

struct Packed {
  int offsets[4];
  double scale;
};

/// Virtual calls, recursion, a structure by value, a switch and local arrays.
extern "C" __global__ void control(float *out, Packed packed) {
  int i = threadIdx.x;
  Square square(i);
  Circle circle(i);
  const Shape *shape = i % 3 ? (const Shape *)&square : &circle;
  float result = shape->area() + ackermann(i % 3, 2);
  int table[8];
  for (int j = 0; j < 8; ++j)
    table[(j * 3 + i) % 8] = j;
  switch (i % 6) {
  case 0: result += 1; break;
  case 1: result *= 2; break;
  case 2: result -= table[i % 8]; break;
  case 3: result += packed.offsets[i % 4]; break;
  case 4: result *= float(packed.scale); break;
  default: break;
  }
  out[i] = result;
}
