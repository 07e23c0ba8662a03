// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <random>
#include <thread>
#include <vector>

#include "runtime/kv_cache.h"
#include "runtime/thread_pool.h"

namespace layerstream::runtime {
namespace {

TEST(ThreadPool, EveryIndexRunsExactlyOnce) {
  for (const std::uint32_t threads : {0u, 1u, 2u, 5u}) {
    ThreadPool pool(threads);
    for (const std::size_t count : {0u, 1u, 7u, 64u, 1000u}) {
      for (const std::size_t grain : {0u, 1u, 3u, 64u, 5000u}) {
        std::vector<std::atomic<int>> hits(count);
        pool.parallel_for(count, grain, [&](std::size_t begin, std::size_t end, std::uint32_t thread) {
          EXPECT_LT(thread, pool.n_threads());
          for (std::size_t i = begin; i < end; ++i) hits[i].fetch_add(1);
        });
        for (const auto& hit : hits) EXPECT_EQ(hit.load(), 1);
      }
    }
  }
}

TEST(ThreadPool, ManyShortJobsInARowComplete) {
  ThreadPool pool(4);
  std::size_t sum = 0;
  for (int job = 0; job < 3000; ++job) {
    std::atomic<std::size_t> part{0};
    pool.parallel_for(16, 1, [&](std::size_t begin, std::size_t end, std::uint32_t) { part += end - begin; });
    sum += part;
  }
  EXPECT_EQ(sum, 48000u);
}

TEST(ThreadPool, OnlyThoseThatAreUsedWork) {
  std::mt19937 random(5);
  ThreadPool pool(4);
  for (int job = 0; job < 3000; ++job) {
    const std::uint32_t n_used = static_cast<std::uint32_t>(random() % 6);
    pool.use(n_used);
    std::vector<std::atomic<int>> hits(24);
    pool.parallel_for(hits.size(), 1, [&](std::size_t begin, std::size_t end, std::uint32_t thread) {
      EXPECT_LT(thread, std::max(1u, n_used));
      for (std::size_t i = begin; i < end; ++i) ++hits[i];
    });
    for (const auto& hit : hits) ASSERT_EQ(hit, 1) << "job " << job;
  }
}

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ThreadPool, OneSlowThreadDoesNotHoldUpTheOthers) {
  for (const std::uint32_t threads : {2u, 3u, 5u}) {
    ThreadPool pool(threads);
    if (pool.n_threads() == 1) GTEST_SKIP() << "this build has no threads";
    constexpr std::size_t kChunks = 64;
    std::atomic<std::size_t> started{0}, finished{0};
    std::atomic<bool> overtaken{false};
    // Whoever comes first is delayed until the others have done all that is left.
    pool.parallel_for(kChunks, 1, [&](std::size_t, std::size_t, std::uint32_t) {
      if (started.fetch_add(1) == 0) {
        for (const auto begin = Clock::now(); finished != kChunks - 1 && Clock::now() - begin < seconds(20);) std::this_thread::sleep_for(milliseconds(1));
        overtaken = finished == kChunks - 1;
      }
      ++finished;
    });
    EXPECT_TRUE(overtaken) << threads << " threads";
    EXPECT_EQ(finished, kChunks);
  }
}

TEST(ThreadPool, EveryThreadWorksThroughAStretchOfItsOwn) {
  constexpr std::size_t kCount = 240, kGrain = 5;
  for (const std::uint32_t threads : {2u, 3u, 4u}) {
    ThreadPool pool(threads);
    if (pool.n_threads() == 1) GTEST_SKIP() << "this build has no threads";
    std::atomic<std::uint32_t> started{0}, halfway{0};
    std::vector<std::vector<std::size_t>> begins(threads);
    // In step until half of it is done, so that nobody is done early and helps: first all begin, then all go on.
    const auto meet = [&](std::atomic<std::uint32_t>& arrived) {
      ++arrived;
      for (const auto begin = Clock::now(); arrived < threads && Clock::now() - begin < seconds(20);) std::this_thread::yield();
    };
    pool.parallel_for(kCount, kGrain, [&](std::size_t begin, std::size_t end, std::uint32_t thread) {
      EXPECT_LE(end - begin, kGrain);
      begins[thread].push_back(begin);
      if (begins[thread].size() == 1) meet(started);
      if (begins[thread].size() == kCount / kGrain / threads / 2) meet(halfway);
    });
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      ASSERT_GE(begins[thread].size(), kCount / kGrain / threads / 2);
      for (std::size_t i = 0; i < kCount / kGrain / threads / 2; ++i) {
        EXPECT_EQ(begins[thread][i], kCount / threads * thread + i * kGrain) << "thread " << thread << " of " << threads;
      }
    }
  }
}

TEST(ThreadPool, RandomDelaysLoseNothingAndRepeatNothing) {
  std::mt19937 random(11);
  for (const std::uint32_t threads : {2u, 4u}) {
    ThreadPool pool(threads);
    for (int job = 0; job < 400; ++job) {
      const std::size_t count = 1 + random() % 90, grain = 1 + random() % 7;
      const std::uint32_t slow_thread = random() % threads;
      const microseconds delay(job % 8 == 0 ? random() % 3000 : 0);
      std::vector<std::atomic<int>> hits(count);
      pool.parallel_for(count, grain, [&](std::size_t begin, std::size_t end, std::uint32_t thread) {
        if (thread == slow_thread) std::this_thread::sleep_for(delay);
        for (std::size_t i = begin; i < end; ++i) ++hits[i];
      });
      for (const auto& hit : hits) ASSERT_EQ(hit, 1) << "job " << job;
    }
  }
}

TEST(ThreadPool, IdleWorkersSleep) {
  ThreadPool pool(4);
  if (pool.n_threads() == 1) GTEST_SKIP() << "this build has no threads";
  for (int job = 0; job < 50; ++job) pool.parallel_for(64, 1, [](std::size_t, std::size_t, std::uint32_t) {});
  std::this_thread::sleep_for(milliseconds(20));
  const std::clock_t before = std::clock();  // processor time of all threads
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.025);
}

KvCache make(std::size_t rows, std::uint32_t window) {
  auto cache = KvCache::create({{2, 12, rows, window}, {1, 12, rows, window}});
  EXPECT_TRUE(cache);
  return std::move(*cache);
}

void write(KvCache& cache, std::uint64_t pos) {
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t head = 0; head < cache.shape(layer).n_kv_heads; ++head) {
      const float k[3] = {static_cast<float>(pos), static_cast<float>(head), static_cast<float>(layer)};
      const float v[3] = {-static_cast<float>(pos), static_cast<float>(head), static_cast<float>(layer)};
      std::memcpy(cache.k_row(layer, head, pos), k, sizeof k);
      std::memcpy(cache.v_row(layer, head, pos), v, sizeof v);
    }
  }
}

TEST(KvCache, DumpIsInLogicalOrder) {
  KvCache cache = make(4, 3);
  for (std::uint64_t pos = 0; pos < 9; ++pos) write(cache, pos);
  const auto bytes = cache.dump(9);
  ASSERT_EQ(bytes.size(), 3u * 3 * 2 * 3 * 4);  // (2 + 1) heads, 3 rows, K and V, 3 values of 4 bytes
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  // Layer 0, K: positions 6, 7, 8, heads 0 and 1 in each row.
  EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 9), (std::vector<float>{6, 0, 0, 6, 1, 0, 7, 0, 0}));
  EXPECT_EQ(values[18], -6);
}

TEST(KvCache, ResumingBehindAnOverwrittenRowIsRefused) {
  const KvCache cache = make(8, 4);
  EXPECT_TRUE(cache.can_resume_at(3, 8));
  EXPECT_TRUE(cache.can_resume_at(11, 15));   // rows 7..14 are kept; 11 sees 8..10
  EXPECT_TRUE(cache.can_resume_at(10, 15));   // sees 7..9
  EXPECT_FALSE(cache.can_resume_at(9, 15));   // would see 6
  EXPECT_TRUE(make(8, 0).can_resume_at(1, 8));
}

}  // namespace
}  // namespace layerstream::runtime
