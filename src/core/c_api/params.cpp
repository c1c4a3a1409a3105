// Settings in NCCL's C API: the ncclParam functions and ncclSetEncryption.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/settings/setting_table.hpp"
#include "c_api/handle/guard.hpp"
#include "c_api/handle/options.hpp"
#include "os/process/per_thread.hpp"

namespace ringlet::c_api {
namespace {

// A handle is 1 + a row of kSettings. It has NCCL's pointer type but is never dereferenced.
Result<const SettingSpec*> SettingOf(ncclParamHandle_t handle) {
  RINGLET_TRY(RequireNonNull(handle, "h"));
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number <= kSettings.size()) return &kSettings[number - 1];
  return Error{Code::kInvalidArgument, "h was not returned by ncclParamBind"};
}

constexpr std::string_view kOwn = "RINGLET_", kNccl = "NCCL_";

Result<const SettingSpec*> SettingNamed(const char* key) {
  RINGLET_TRY(RequireNonNull(key, "key"));
  constexpr std::size_t kKeyBytesMax = 128;
  const std::string_view name(key, ::strnlen(key, kKeyBytesMax));
  for (const SettingSpec& spec : kSettings) {
    const bool own = name.starts_with(kOwn) && name.substr(kOwn.size()) == spec.name;
    const bool alias =
        spec.has_nccl_alias && name.starts_with(kNccl) && name.substr(kNccl.size()) == spec.name;
    if (own || alias) return &spec;
  }
  return Error{Code::kInvalidArgument, fmt::format("there is no setting {}", name)};
}

/// The value as a number, if it is one.
struct SettingNumbers {
  std::optional<std::int64_t> operator()(bool value) const { return value ? 1 : 0; }
  std::optional<std::int64_t> operator()(std::chrono::milliseconds value) const {
    return value.count();
  }
  std::optional<std::int64_t> operator()(std::uint64_t value) const {
    return static_cast<std::int64_t>(value);
  }
  std::optional<std::int64_t> operator()(const std::optional<std::uint32_t>& value) const {
    if (!value) return std::nullopt;
    return *value;
  }
  std::optional<std::int64_t> operator()(SubsystemMask value) const { return value.bits; }
  template <typename T>
  std::optional<std::int64_t> operator()(const T& value) const {
    if constexpr (std::is_enum_v<T>) return static_cast<std::int64_t>(value);
    return std::nullopt;
  }
};

std::optional<std::int64_t> NumberOf(const Settings& settings, const SettingSpec& spec) {
  return std::visit([&](auto member) { return SettingNumbers{}(settings.*member); }, spec.field);
}

template <std::integral T>
Status GetNumber(ncclParamHandle_t handle, T* out) {
  RINGLET_TRY(RequireNonNull(out, "out"));
  RINGLET_TRY_ASSIGN(const SettingSpec* spec, SettingOf(handle));
  RINGLET_TRY_ASSIGN(const auto process, ProcessForSettings());
  const auto number = NumberOf(process->settings(), *spec);
  if (!number)
    return Error{Code::kInvalidArgument, fmt::format("RINGLET_{} is not a number", spec->name)};
  if (!std::in_range<T>(*number))
    return Error{Code::kInvalidArgument,
                 fmt::format("RINGLET_{} is {}, which does not fit into {} bits", spec->name,
                             *number, 8 * sizeof(T))};
  *out = static_cast<T>(*number);
  return Ok();
}

Result<std::string> TextOf(const SettingSpec& spec) {
  RINGLET_TRY_ASSIGN(const auto process, ProcessForSettings());
  return ValueText(process->settings(), spec);
}

Status GetText(ncclParamHandle_t handle, const char** out) {
  static os::PerThread<std::string> texts;
  std::string& given = texts.Get();
  RINGLET_TRY(RequireNonNull(out, "out"));
  RINGLET_TRY_ASSIGN(const SettingSpec* spec, SettingOf(handle));
  RINGLET_TRY_ASSIGN(given, TextOf(*spec));
  *out = given.c_str();
  return Ok();
}

Status GetBytes(ncclParamHandle_t handle, void* out, int bytes_max, int* bytes) {
  RINGLET_TRY(RequireNonNull(out, "out"));
  RINGLET_TRY(RequireNonNull(bytes, "len"));
  RINGLET_TRY_ASSIGN(const SettingSpec* spec, SettingOf(handle));
  RINGLET_TRY_ASSIGN(std::string value, TextOf(*spec));
  RINGLET_TRY_ASSIGN(const auto process, ProcessForSettings());
  if (const auto number = NumberOf(process->settings(), *spec))
    value.assign(reinterpret_cast<const char*>(&*number), sizeof *number);
  *bytes = static_cast<int>(value.size());
  if (bytes_max < *bytes)
    return Error{Code::kInvalidArgument, fmt::format("maxLen is {}, and RINGLET_{} has {} bytes",
                                                     bytes_max, spec->name, *bytes)};
  std::memcpy(out, value.data(), value.size());
  return Ok();
}

Status GetByKey(const char* key, const char** value, int* bytes) {
  static os::PerThread<std::string> texts;
  std::string& given = texts.Get();
  RINGLET_TRY(RequireNonNull(value, "value"));
  RINGLET_TRY(RequireNonNull(bytes, "valueLen"));
  RINGLET_TRY_ASSIGN(const SettingSpec* spec, SettingNamed(key));
  RINGLET_TRY_ASSIGN(given, TextOf(*spec));
  *value = given.c_str();
  *bytes = static_cast<int>(given.size());
  return Ok();
}

/// The keys of all settings: NCCL's variable if one exists, otherwise RINGLET's.
std::vector<std::string> Keys() {
  std::vector<std::string> keys;
  for (const SettingSpec& spec : kSettings)
    keys.push_back(fmt::format("{}{}", spec.has_nccl_alias ? kNccl : kOwn, spec.name));
  return keys;
}

Status ListKeys(const char*** table, int* count) {
  static const std::vector<std::string> keys = Keys();
  static os::PerThread<std::vector<const char*>> tables;
  std::vector<const char*>& given = tables.Get();
  RINGLET_TRY(RequireNonNull(table, "table"));
  RINGLET_TRY(RequireNonNull(count, "tableLen"));
  given.clear();
  for (const std::string& key : keys) given.push_back(key.c_str());
  *table = given.data();
  *count = static_cast<int>(given.size());
  return Ok();
}

Status Dump() {
  RINGLET_TRY_ASSIGN(const auto process, ProcessForSettings());
  const std::vector<std::string> keys = Keys();
  for (std::size_t i = 0; i < keys.size(); ++i)
    process->logger().Log(
        LogLevel::kWarn, Subsystem::kEnv, std::nullopt,
        fmt::format("{}={} ({})", keys[i], ValueText(process->settings(), kSettings[i]),
                    OriginText(process->settings(), kSettings[i])));
  return Ok();
}

Status Encrypt(const ncclEncryptionConfig_t* config) {
  if (!config) return Ok();  // as NCCL: no change
  RINGLET_TRY_ASSIGN(const Encryption encryption, ReadEncryption(*config));
  if (!encryption.wanted) return Override({{"RINGLET_ENCRYPT", "0"}});
  return Override({{"RINGLET_ENCRYPT", "1"}, {"RINGLET_SECRET", encryption.key}});
}

}  // namespace
}  // namespace ringlet::c_api

namespace api = ringlet::c_api;

extern "C" {

ncclResult_t ncclParamBind(ncclParamHandle_t* out, const char* key) {
  return api::Guard("ncclParamBind", [&]() -> ringlet::Status {
    RINGLET_TRY(api::RequireNonNull(out, "out"));
    RINGLET_TRY_ASSIGN(const ringlet::SettingSpec* spec, api::SettingNamed(key));
    const auto row = static_cast<std::uintptr_t>(spec - ringlet::kSettings.data());
    *out = reinterpret_cast<ncclParamHandle_t>(row + 1);  // NOLINT
    return ringlet::Ok();
  });
}

#define RINGLET_PARAM(name, type)                                     \
  ncclResult_t name(ncclParamHandle_t h, type* out) {                 \
    return api::Guard(#name, [&] { return api::GetNumber(h, out); }); \
  }                                                                   \
  extern decltype(name) p##name __attribute__((alias(#name)))
RINGLET_PARAM(ncclParamGetI8, int8_t);
RINGLET_PARAM(ncclParamGetI16, int16_t);
RINGLET_PARAM(ncclParamGetI32, int32_t);
RINGLET_PARAM(ncclParamGetI64, int64_t);
RINGLET_PARAM(ncclParamGetU8, uint8_t);
RINGLET_PARAM(ncclParamGetU16, uint16_t);
RINGLET_PARAM(ncclParamGetU32, uint32_t);
RINGLET_PARAM(ncclParamGetU64, uint64_t);
#undef RINGLET_PARAM

ncclResult_t ncclParamGetStr(ncclParamHandle_t h, const char** out) {
  return api::Guard("ncclParamGetStr", [&] { return api::GetText(h, out); });
}

ncclResult_t ncclParamGet(ncclParamHandle_t h, void* out, int maxLen, int* len) {
  return api::Guard("ncclParamGet", [&] { return api::GetBytes(h, out, maxLen, len); });
}

ncclResult_t ncclParamGetParameter(const char* key, const char** value, int* valueLen) {
  return api::Guard("ncclParamGetParameter", [&] { return api::GetByKey(key, value, valueLen); });
}

ncclResult_t ncclParamGetAllParameterKeys(const char*** table, int* tableLen) {
  return api::Guard("ncclParamGetAllParameterKeys", [&] { return api::ListKeys(table, tableLen); });
}

void ncclParamDumpAll(void) {
  static_cast<void>(api::Guard("ncclParamDumpAll", [] { return api::Dump(); }));
}

ncclResult_t ncclSetEncryption(const ncclEncryptionConfig_t* config) {
  return api::Guard("ncclSetEncryption", [&] { return api::Encrypt(config); });
}

// Profiling aliases: a tool that defines ncclX calls the original as pncclX.
#define RINGLET_TWIN(name) extern decltype(name) p##name __attribute__((alias(#name)))
RINGLET_TWIN(ncclParamBind);
RINGLET_TWIN(ncclParamGetStr);
RINGLET_TWIN(ncclParamGet);
RINGLET_TWIN(ncclParamGetParameter);
RINGLET_TWIN(ncclParamGetAllParameterKeys);
RINGLET_TWIN(ncclParamDumpAll);
RINGLET_TWIN(ncclSetEncryption);
#undef RINGLET_TWIN

}  // extern "C"
