#include "base/value/json_object.hpp"

#include <gmock/gmock.h>

namespace ringlet {
namespace {

using testing::ElementsAre;

constexpr auto kAll = [](JsonObject& object) {
  std::string text = object.Text("name") + (object.Flag("flag") ? " yes" : " no");
  object.ForEach("list", [&](JsonObject& one) { text += fmt::format(" {}", one.Small("n")); });
  object.Within("inner", [&](JsonObject& one) { text += fmt::format(" {}", one.Real("x")); });
  for (const std::string& word : object.Texts("words")) text += " " + word;
  return text + (object.IsNull("nothing") ? " null" : "");
};

std::string WhyNot(std::string_view text) {
  const auto read = ReadJson(text, {Code::kProtocol, "refused"}, [](JsonObject& object) {
    return object.Small("n") + object.OptionalSmall("m").value_or(0);
  });
  return read.ok() ? fmt::format("{}", *read) : read.error().message;
}

TEST(JsonObjectTest, MembersOfAllKindsAreRead) {
  const auto read = ReadJson(
      R"({"name": "a", "flag": true, "list": [{"n": 1}, {"n": 2}], "inner": {"x": 0.5},
          "words": ["b", "c"], "nothing": null})",
      {Code::kProtocol, "refused"}, kAll);
  EXPECT_EQ(read.value(), "a yes 1 2 0.5 b c null");
}

TEST(JsonObjectTest, TheFirstErrorFollowsTheMessage) {
  EXPECT_EQ(WhyNot(R"({"n": 1, "m": 2})"), "3");
  EXPECT_EQ(WhyNot("{"), "refused: it is not a JSON object");
  EXPECT_EQ(WhyNot("[]"), "refused: it is not a JSON object");
  EXPECT_EQ(WhyNot(R"({"m": "x"})"), "refused: n is missing");
  EXPECT_EQ(WhyNot(R"({"n": -1})"), "refused: n is not a number from 0 to 4294967295");
  EXPECT_EQ(WhyNot(R"({"n": 4294967296})"), "refused: n is not a number from 0 to 4294967295");
}

TEST(JsonObjectTest, MembersOfAnotherKindAreRefused) {
  const Json json = Json::parse(R"({"a": [1], "b": "x", "c": {}})");
  std::vector<std::string> found;
  const auto why = [&](const auto& read) {
    std::string wrong;
    JsonObject object(json, wrong);
    read(object);
    found.push_back(wrong);
  };
  why([](JsonObject& object) { object.Text("a"); });
  why([](JsonObject& object) { object.Texts("a"); });
  why([](JsonObject& object) { object.Real("b"); });
  why([](JsonObject& object) { object.Flag("b"); });
  why([](JsonObject& object) { object.ForEach("c", [](JsonObject&) {}); });
  EXPECT_THAT(found, ElementsAre("a is not a text of at most 4096 bytes",
                                 "a has an entry that is not a text of at most 4096 bytes",
                                 "b is not a number", "b is neither true nor false",
                                 "c is not a list of at most 65536 entries"));
}

}  // namespace
}  // namespace ringlet
