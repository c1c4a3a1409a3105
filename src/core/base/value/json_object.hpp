// Reads JSON from another process, key by key, within bounds. Keeps the first error, and returns
// empty values for unreadable members.
#pragma once
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet {

using Json = nlohmann::ordered_json;

class JsonObject {
 public:
  static constexpr std::size_t kTextBytesMax = 4096;
  static constexpr std::size_t kListMax = 1 << 16;

  /// Both arguments outlive this object.
  JsonObject(const Json& json, std::string& wrong) : json_(json), wrong_(wrong) {
    if (!json.is_object()) Refuse("it is not a JSON object");
  }

  bool Has(const char* key) const { return json_.is_object() && json_.contains(key); }
  bool IsNull(const char* key) const { return Has(key) && json_.at(key).is_null(); }

  std::uint64_t Number(const char* key,
                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    const Json* const found = Find(key);
    if (found == nullptr) return 0;
    if (found->is_number_unsigned() && found->get<std::uint64_t>() <= most)
      return found->get<std::uint64_t>();
    return Refuse(fmt::format("{} is not a number from 0 to {}", key, most)), 0;
  }
  std::uint32_t Small(const char* key) {
    return static_cast<std::uint32_t>(Number(key, std::numeric_limits<std::uint32_t>::max()));
  }
  /// Reads a number of ranks, bounded because callers make lists of that length.
  std::uint32_t Ranks(const char* key) {
    constexpr std::uint64_t kMost = 1 << 24;
    return static_cast<std::uint32_t>(Number(key, kMost));
  }
  std::uint64_t OptionalNumber(const char* key) { return Has(key) ? Number(key) : 0; }
  std::optional<std::uint32_t> OptionalSmall(const char* key) {
    return Has(key) ? std::optional(Small(key)) : std::nullopt;
  }
  double Real(const char* key) {
    const Json* const found = Find(key);
    if (found == nullptr || found->is_number()) return found == nullptr ? 0 : found->get<double>();
    return Refuse(fmt::format("{} is not a number", key)), 0;
  }
  bool Flag(const char* key) {
    const Json* const found = Find(key);
    if (found == nullptr || found->is_boolean()) return found != nullptr && found->get<bool>();
    return Refuse(fmt::format("{} is neither true nor false", key)), false;
  }
  std::string Text(const char* key) {
    const Json* const found = Find(key);
    if (found == nullptr) return {};
    if (found->is_string() && found->get_ref<const std::string&>().size() <= kTextBytesMax)
      return found->get<std::string>();
    return Refuse(fmt::format("{} is not a text of at most {} bytes", key, kTextBytesMax)), "";
  }
  std::string OptionalText(const char* key) { return Has(key) ? Text(key) : ""; }

  /// \param read  receives each object of the list
  template <class Read>
  void ForEach(const char* key, const Read& read) {
    for (const Json& one : List(key)) {
      JsonObject object(one, wrong_);
      read(object);
    }
  }
  /// The texts in a list.
  std::vector<std::string> Texts(const char* key) {
    std::vector<std::string> texts;
    for (const Json& one : List(key)) {
      if (!one.is_string() || one.get_ref<const std::string&>().size() > kTextBytesMax)
        return Refuse(fmt::format("{} has an entry that is not a text of at most {} bytes", key,
                                  kTextBytesMax)),
               texts;
      texts.push_back(one.get<std::string>());
    }
    return texts;
  }
  /// \param read  receives the object
  template <class Read>
  void Within(const char* key, const Read& read) {
    const Json* const found = Find(key);
    if (found == nullptr) return;
    JsonObject object(*found, wrong_);
    read(object);
  }

  void Refuse(std::string why) {
    if (wrong_.empty()) wrong_ = std::move(why);
  }

 private:
  const Json* Find(const char* key) {
    if (Has(key)) return &json_.at(key);
    Refuse(fmt::format("{} is missing", key));
    return nullptr;
  }

  const Json& List(const char* key) {
    static const Json kNone = Json::array();
    const Json* const found = Find(key);
    if (found != nullptr && found->is_array() && found->size() <= kListMax) return *found;
    Refuse(fmt::format("{} is not a list of at most {} entries", key, kListMax));
    return kNone;
  }

  const Json& json_;
  std::string& wrong_;
};

/// Returns the value that `read` makes from the JSON object in `text`.
/// Errors  that of `none`, with the reason appended to its message
template <class Read>
Result<std::invoke_result_t<Read, JsonObject&>> ReadJson(
    std::string_view text, const Error& none, const Read& read,
    std::size_t bytes_max = std::numeric_limits<std::size_t>::max()) {
  std::string wrong;
  if (text.size() > bytes_max) wrong = fmt::format("it has more than {} bytes", bytes_max);
  const Json json = Json::parse(wrong.empty() ? text : "", nullptr, /*allow_exceptions=*/false);
  JsonObject object(json, wrong);
  auto value = read(object);
  if (wrong.empty()) return value;
  return Error{none.code, fmt::format("{}: {}", none.message, wrong)};
}

}  // namespace ringlet
