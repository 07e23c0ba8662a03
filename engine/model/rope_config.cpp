// SPDX-License-Identifier: MIT
#include "model/rope_config.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/math.h"

namespace layerstream::model {
namespace {

constexpr double kBetaFast = 32.0, kBetaSlow = 1.0;

// Share of the unscaled angle that pair i keeps under YaRN.
class YarnRamp {
 public:
  explicit YarnRamp(const RopeSettings& settings) {
    const double dims = static_cast<double>(settings.dims);
    const auto pair_of = [&](double rotations) {
      return dims * math::log(static_cast<double>(settings.original_context) / (2.0 * std::numbers::pi * rotations)) / (2.0 * math::log(settings.base));
    };
    low_ = std::max(0.0, std::floor(pair_of(kBetaFast)));
    high_ = std::min(dims - 1.0, std::ceil(pair_of(kBetaSlow)));
  }
  [[nodiscard]] double keep(std::size_t pair) const {
    return 1.0 - std::clamp((static_cast<double>(pair) - low_) / std::max(0.001, high_ - low_), 0.0, 1.0);
  }

 private:
  double low_, high_;
};

}  // namespace

Result<Rope> make_rope(const RopeSettings& settings, std::span<const float> divisors) {
  Rope rope;
  rope.magnitude = settings.attention_factor;
  const bool yarn = settings.scaling == RopeSettings::Scaling::yarn;
  const double scale = settings.scaling == RopeSettings::Scaling::none ? 1.0 : 1.0 / settings.factor;
  if (yarn) rope.magnitude *= 1.0 + 0.1 * math::log(settings.factor);
  const YarnRamp ramp(settings);
  for (std::size_t i = 0; i < settings.dims / 2; ++i) {
    double frequency = math::pow(settings.base, -2.0 * static_cast<double>(i) / static_cast<double>(settings.dims));
    if (!divisors.empty()) {
      const double divisor = static_cast<double>(divisors[i]);
      if (!(std::fabs(divisor) > 1e-30 && std::fabs(divisor) < 1e30)) {
        return fail(ErrorCode::bad_value, "rope divisor " + std::to_string(i) + " is " + std::to_string(divisor));
      }
      frequency /= divisor;
    }
    const double keep = yarn ? ramp.keep(i) : 0.0;
    rope.inverse_frequencies.push_back(frequency * scale * (1.0 - keep) + frequency * keep);
  }
  return rope;
}

}  // namespace layerstream::model
