#pragma once
// SPDX-License-Identifier: MIT
// Times a piece of work: warm-up, many rounds, the middle and the spread of them.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace layerstream::bench {

struct Spread {
  double median_us = 0, p10_us = 0, p90_us = 0;
  std::size_t rounds = 0;
};

// Runs `work` for about `seconds`, at least 5 times, after a tenth of that as warm-up.
template <typename Work>
[[nodiscard]] Spread time_rounds(double seconds, Work work) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto begin = Clock::now();
  do work();
  while (since(begin) < seconds / 10);
  std::vector<double> rounds;
  for (const auto start = Clock::now(); rounds.size() < 5 || since(start) < seconds;) {
    const auto round = Clock::now();
    work();
    rounds.push_back(since(round) * 1e6);
  }
  std::ranges::sort(rounds);
  const auto at = [&](std::size_t percent) { return rounds[(rounds.size() - 1) * percent / 100]; };
  return {at(50), at(10), at(90), rounds.size()};
}

}  // namespace layerstream::bench
