// SPDX-License-Identifier: MIT
#include "cli/profile_report.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace layerstream::cli {
namespace {

struct Row {
  std::string name;
  runtime::Spent spent;
};

// The slowest first; operations that never ran are left out.
std::vector<Row> rows_of(const runtime::Profile& profile, double seconds) {
  std::vector<Row> rows;
  const auto add = [&](std::string name, const runtime::Spent& spent) {
    if (spent.calls == 0) return;
    rows.push_back({std::move(name), spent});
    seconds -= spent.seconds;
  };
  for (std::size_t i = 0; i < profile.matmul.size(); ++i) add("matmul " + std::string(kTypeInfos[i].name), profile.matmul[i]);
  for (std::size_t i = 0; i < profile.operations.size(); ++i) add(std::string(runtime::kOperationNames[i]), profile.operations[i]);
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.spent.seconds > b.spent.seconds; });
  rows.push_back({"other", {.seconds = std::max(seconds, 0.0)}});
  return rows;
}

bool is_matmul(const Row& row) { return row.name.starts_with("matmul"); }

}  // namespace

void print_profile(std::string_view phase, const runtime::Profile& profile, double seconds) {
  std::printf("\n%-28.*s %10s %7s %10s %8s\n", static_cast<int>(phase.size()), phase.data(), "ms", "share", "calls", "G/s");
  for (const Row& row : rows_of(profile, seconds)) {
    std::printf("  %-26s %10.2f %6.1f%% %10llu", row.name.c_str(), row.spent.seconds * 1e3, seconds > 0 ? 100 * row.spent.seconds / seconds : 0.0,
                static_cast<unsigned long long>(row.spent.calls));
    if (is_matmul(row)) std::printf(" %8.1f", static_cast<double>(row.spent.work) / row.spent.seconds / 1e9);
    std::printf("\n");
  }
}

void write_profile(JsonWriter& json, const runtime::Profile& profile, double seconds) {
  json.begin_array();
  for (const Row& row : rows_of(profile, seconds)) {
    json.begin_object().field("operation", std::string_view(row.name)).field("seconds", row.spent.seconds).field("calls", row.spent.calls);
    if (is_matmul(row)) json.field("multiply_adds", row.spent.work);
    json.end_object();
  }
  json.end_array();
}

}  // namespace layerstream::cli
