// SPDX-License-Identifier: MIT
// A trained model end to end: the embedded demo model gives the replies the reference gave.
#include <gtest/gtest.h>

#include "support/golden_case.h"

namespace layerstream::test {
namespace {

const std::string kFolder = LAYERSTREAM_SOURCE_DIR "/demo/models/tinychat/";

// Greedy ids until the end of the turn.
std::vector<TokenId> answer(MemoryHost& host, Session& session, const std::vector<TokenId>& prompt) {
  std::vector<TokenId> ids;
  EXPECT_TRUE(session.truncate(0));
  EXPECT_TRUE(run_tokens(host, session, prompt, session.max_entries()));
  while (ids.size() < 200) {
    const auto token = session.sample();
    if (!token) return ids;
    ids.push_back(*token);
    if (session.tokenizer().is_end_of_generation(*token)) return ids;
    const Entry next{*token, session.n_past(), Wants::logits};
    EXPECT_TRUE(session.begin_pass({&next, 1}));
    EXPECT_TRUE(host.run(session));
  }
  return ids;
}

TEST(TinyChat, RepliesAsTheReference) {
  const auto chats = Json::read_file(kFolder + "chats.json");
  ASSERT_TRUE(chats);
  MemoryHost host(read_bytes(kFolder + "tinychat-q8_0.gguf"));
  const auto session = host.open({.n_ctx = 512, .kv_type = KvCacheType::f32});
  ASSERT_TRUE(session) << session.error().message;
  std::size_t n = 0;
  for (const Json& chat : chats->array()) {
    std::vector<TokenId> prompt, expected;
    for (const auto id : chat.at("prompt_ids").ints()) prompt.push_back(static_cast<TokenId>(id));
    const Json& reply = chat.at("replies").at("tinychat-q8_0.gguf");
    for (const auto id : reply.at("ids").ints()) expected.push_back(static_cast<TokenId>(id));
    const std::vector<TokenId> ids = answer(host, **session, prompt);
    EXPECT_EQ(ids, expected) << "chat " << n << ": " << (*session)->tokenizer().decode(ids, false) << " / " << reply.at("text").string();
    EXPECT_EQ((*session)->tokenizer().decode(ids, false), reply.at("text").string());
    ++n;
  }
  EXPECT_EQ(n, 20u);
}

}  // namespace
}  // namespace layerstream::test
