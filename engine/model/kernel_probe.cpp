// SPDX-License-Identifier: MIT
#include "model/kernel_probe.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/activations.h"
#include "kernels/matmul.h"
#include "runtime/thread_pool.h"

namespace layerstream::model {
namespace {

constexpr std::size_t kColumns = 4096;
constexpr std::size_t kRowsAtOnce = 64;
constexpr std::uint64_t kMaxBytes = 1u << 30;

class Probe final : public KernelProbe {
 public:
  Probe(QuantType type, std::size_t rows, AlignedBuffer weights, std::uint32_t n_threads)
      : view_{weights.data(), type, rows, kColumns, static_cast<std::size_t>(row_bytes(type, kColumns))}, weights_(std::move(weights)), pool_(n_threads), x_(kColumns, 0.5f), q8_(kColumns), scales_(kColumns / 32), sums_(kColumns / 32), y_(rows) {
    kernels::quantize_activations(x_.data(), kColumns, q8_.data(), scales_.data(), sums_.data());
  }

  void run() override {
    const bool int8 = kernels::activation_kind(view_.type) == quant::ActivationKind::q8;
    const kernels::Activations activations{.f32 = x_.data(), .q8 = int8 ? q8_.data() : nullptr, .q8_scales = scales_.data(), .q8_sums = sums_.data(), .n_columns = 1, .length = kColumns};
    pool_.parallel_for(view_.rows, kRowsAtOnce, [&](std::size_t begin, std::size_t end, std::uint32_t) {
      kernels::matmul(view_, activations, begin, end, y_.data(), view_.rows);
    });
  }

  std::uint64_t weight_bytes() const override { return view_.rows * view_.row_bytes; }

 private:
  MatView view_;
  AlignedBuffer weights_;
  runtime::ThreadPool pool_;
  std::vector<float> x_;
  std::vector<std::int8_t> q8_;
  std::vector<float> scales_;
  std::vector<std::int32_t> sums_;
  std::vector<float> y_;
};

}  // namespace

Result<std::unique_ptr<KernelProbe>> KernelProbe::create(std::string_view type_name, std::uint64_t bytes, std::uint32_t n_threads) {
  const auto info = std::find_if(kTypeInfos.begin(), kTypeInfos.end(), [&](const TypeInfo& one) { return one.name == type_name; });
  if (info == kTypeInfos.end() || !kernels::is_supported(info->type)) {
    return fail(ErrorCode::bad_argument, "\"" + std::string(type_name.substr(0, 20)) + "\" is no tensor type with a kernel");
  }
  const std::uint64_t each = row_bytes(info->type, kColumns);
  const std::size_t rows = static_cast<std::size_t>(std::max<std::uint64_t>(1, std::min(bytes, kMaxBytes) / each));
  AlignedBuffer weights = LS_TRY(AlignedBuffer::create(rows * each));
  std::memset(weights.data(), 0x11, weights.size_bytes());  // a small number in every format
  return std::make_unique<Probe>(info->type, rows, std::move(weights), n_threads);
}

}  // namespace layerstream::model
