// SPDX-License-Identifier: MIT
// Matrix products of every type in the registry, JSON on stdout, progress on stderr. One thread.
//   bench_kernels [--rows N] [--length N: types whose blocks do not divide it are left out] [--seconds S per point] [--only TYPE,TYPE] [--dot main|other]
// A point is (type, columns): the median call as weight bytes and multiply-adds per second, the best call, and the best over that
// of Q8_0 at the same number of columns, which is also the ratio of weights per second (of bests: other load disturbs them
// least). Quantising the activations is not part of it. Ceilings: reading 256 MB with four accumulators; the integer dot alone on
// L1-resident operands.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../unit/kernels/test_data.h"
#include "kernels/matmul.h"
#include "simd/simd.h"

namespace layerstream {
namespace {

struct Options {
  std::size_t rows = 2048;
  std::size_t length = 2048;
  double seconds = 0.2;
  std::string_view only;
  kernels::DotChoice dot = kernels::preferred_dot();
};

struct Point {
  QuantType type;
  std::size_t columns = 0;
  double weight_gb_s = 0.0;
  double gmac_s = 0.0;
  double best_gmac_s = 0.0;
};

struct Seconds {
  double median = 0.0;
  double best = 0.0;
};

constexpr std::size_t kColumns[] = {1, 2, 4, 8, 16, 64};

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of a call: after one to warm up, as many as fit into the time, three at least.
template <typename Call>
Seconds time_calls(double limit, Call&& call) {
  call();
  std::vector<double> times;
  const double start = now_seconds();
  double last = start;
  while (times.size() < 3 || last - start < limit) {
    call();
    const double end = now_seconds();
    times.push_back(end - last);
    last = end;
  }
  std::ranges::sort(times);
  return {times[times.size() / 2], times.front()};
}

double memory_read_gb_s(double limit) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  std::vector<std::byte> bytes(kBytes, std::byte{1});
  volatile std::uint32_t sink = 0;
  const Seconds seconds = time_calls(limit, [&] {
    simd::u32x4 sums[4] = {};
    for (std::size_t i = 0; i < kBytes; i += 64) {
      simd::unroll<4>([&](auto part) __attribute__((always_inline)) { sums[part] += (simd::u32x4)simd::load_u8(bytes.data() + i + 16 * part); });
    }
    const simd::u32x4 sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    sink = sink + sum[0] + sum[1] + sum[2] + sum[3];
  });
  return static_cast<double>(kBytes) / seconds.best * 1e-9;
}

template <typename D>
double peak_dot_gmac_s(double limit) {
  constexpr std::size_t kChains = 8;
  constexpr std::size_t kRounds = 65536;
  std::int8_t x[16 * kChains];
  for (std::size_t i = 0; i < sizeof x; ++i) x[i] = static_cast<std::int8_t>(i);
  volatile std::int32_t sink = 0;
  simd::u8x16 codes = simd::splat_u8(1);
  const Seconds seconds = time_calls(limit, [&] {
    const auto weights = D::prepare_unsigned(codes);
    asm volatile("" ::"r"(x) : "memory");  // x is known elsewhere, so the next barriers count
    simd::i32x4 sums[kChains] = {};
    for (std::size_t round = 0; round < kRounds; ++round) {
      asm volatile("" ::: "memory");  // x is read in every round
      simd::unroll<kChains>([&](auto c) __attribute__((always_inline)) { sums[c] += D::dot16(D::load_values(x + 16 * c), weights); });
    }
    for (const simd::i32x4 sum : sums) sink = sink + sum[0];
  });
  return static_cast<double>(16 * kChains * kRounds) / seconds.best * 1e-9;
}

std::vector<Point> measure(const TypeInfo& info, const Options& options) {
  test::Random random(1);
  test::Matrix w = test::make_matrix(random, info.type, options.rows, options.length);
  // No quantiser writes -128, and rows with it take the slow exact path.
  if (info.type == QuantType::q8_0) std::ranges::replace(w.bytes, std::byte{0x80}, std::byte{0x81});
  const test::Columns x = test::make_columns(random, std::ranges::max(kColumns), options.length);
  std::vector<float> y(std::ranges::max(kColumns) * options.rows);
  std::vector<Point> points;
  for (const std::size_t columns : kColumns) {
    const Seconds seconds = time_calls(
        options.seconds, [&] { kernels::matmul(w.view, x.view(0, columns), 0, options.rows, y.data(), options.rows, options.dot); });
    const double macs = static_cast<double>(columns) * static_cast<double>(options.rows) * static_cast<double>(options.length);
    points.push_back({info.type, columns, static_cast<double>(w.bytes.size()) / seconds.median * 1e-9, macs / seconds.median * 1e-9,
                      macs / seconds.best * 1e-9});
  }
  return points;
}

void print(const Options& options, double read, double dot, const std::vector<Point>& points) {
  std::printf("{\n \"rows\": %zu, \"length\": %zu, \"threads\": 1,\n", options.rows, options.length);
  std::printf(" \"dot\": \"%s\", \"memory_read_gb_s\": %.1f, \"peak_dot_gmac_s\": %.1f,\n \"points\": [",
              options.dot == kernels::DotChoice::main ? "main" : "other", read, dot);
  const char* separator = "\n";
  for (const Point& point : points) {
    const auto base = std::ranges::find_if(points, [&](const Point& p) { return p.type == QuantType::q8_0 && p.columns == point.columns; });
    std::printf("%s  {\"type\": \"%s\", \"columns\": %zu, \"weight_gb_s\": %.2f, \"gmac_s\": %.2f, \"best_gmac_s\": %.2f, \"to_q8_0\": %.2f}",
                separator, std::string(type_info(point.type).name).c_str(), point.columns, point.weight_gb_s, point.gmac_s,
                point.best_gmac_s, point.best_gmac_s / base->best_gmac_s);
    separator = ",\n";
  }
  std::printf("\n ]\n}\n");
}

int run(const Options& options) {
  const double read = memory_read_gb_s(options.seconds);
  const double dot = options.dot == kernels::DotChoice::main ? peak_dot_gmac_s<simd::Dot>(options.seconds)
                                                                          : peak_dot_gmac_s<simd::OtherDot>(options.seconds);
  std::vector<Point> points;
  for (const TypeInfo& info : kTypeInfos) {
    const bool wanted = options.only.empty() || ("," + std::string(options.only) + ",").contains("," + std::string(info.name) + ",") || info.type == QuantType::q8_0;
    if (!wanted || !kernels::is_supported(info.type) || options.length % info.block_elements != 0) continue;
    std::fprintf(stderr, "%s\n", std::string(info.name).c_str());
    const std::vector<Point> more = measure(info, options);
    points.insert(points.end(), more.begin(), more.end());
  }
  print(options, read, dot, points);
  return 0;
}

}  // namespace
}  // namespace layerstream

int main(int argc, char** argv) {
  layerstream::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--rows") options.rows = std::strtoul(argv[i + 1], nullptr, 10);
    if (name == "--length") options.length = std::strtoul(argv[i + 1], nullptr, 10);
    if (name == "--seconds") options.seconds = std::strtod(argv[i + 1], nullptr);
    if (name == "--only") options.only = argv[i + 1];
    if (name == "--dot") {
      using layerstream::kernels::DotChoice;
      options.dot = std::string_view(argv[i + 1]) == "main" ? DotChoice::main : DotChoice::other;
    }
  }
  if (options.rows == 0 || options.length == 0 || options.length % 32 != 0) {
    std::fprintf(stderr, "rows must be positive, the length a multiple of 32\n");
    return 2;
  }
  return layerstream::run(options);
}
