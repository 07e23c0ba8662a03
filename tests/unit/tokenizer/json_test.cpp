// SPDX-License-Identifier: MIT
// The JSON reader of the tests: a test that reads nothing must not pass for that.

#include "support/json.h"

#include <gtest/gtest.h>

namespace layerstream::test {
namespace {

TEST(Json, ReadsEveryKindOfValue) {
  const auto json = Json::parse(R"( {"a": [1, -2.5e2, 0], "b": {"c": true, "d": null}, "s": "x\n\u00e9\ud83d\ude00\"\\\/"} )");
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->at("a").numbers(), (std::vector<double>{1, -250, 0}));
  EXPECT_EQ(json->at("a").ints(), (std::vector<std::int32_t>{1, -250, 0}));
  EXPECT_TRUE(json->at("b").at("c").boolean());
  EXPECT_TRUE(json->at("b").at("d").is_null());
  EXPECT_EQ(json->at("s").string(), "x\n\xC3\xA9\xF0\x9F\x98\x80\"\\/");
  EXPECT_TRUE(json->has("a"));
  EXPECT_FALSE(json->has("z"));
  EXPECT_TRUE(json->at("z").is_null());
  EXPECT_TRUE(json->at("a").object().empty());
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text : {"", " ", "[1,]", "[1 2]", "{\"a\":}", "{a:1}", "\"x", "\"\\q\"", "\"\\u12\"", "\"\\ud800\\u0041\"", "tru", "1.", "01", "1e", "-", "+1", ".5", "--1", "[1]]", "\"a\nb\"", "{\"a\":1,}"}) {
    EXPECT_FALSE(Json::parse(text).has_value()) << text;
  }
  EXPECT_FALSE(Json::parse(std::string(100000, '[')).has_value());
  EXPECT_FALSE(Json::read_file("no such file").has_value());
}

}  // namespace
}  // namespace layerstream::test
