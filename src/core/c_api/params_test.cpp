#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/settings/setting_table.hpp"
#include "c_api/comms_for_test.hpp"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

ncclParamHandle_t Bound(const char* key) {
  ncclParamHandle_t handle = nullptr;
  EXPECT_EQ(ncclParamBind(&handle, key), ncclSuccess) << LastMessage();
  return handle;
}

TEST(Params, EverySettingIsListedAndRead) {
  const char** keys = nullptr;
  int count = 0;
  ASSERT_EQ(ncclParamGetAllParameterKeys(&keys, &count), ncclSuccess);
  ASSERT_EQ(count, static_cast<int>(kSettings.size()));
  const std::vector<std::string> all(keys, keys + count);
  EXPECT_EQ(std::ranges::count(all, "NCCL_DEBUG"), 1);
  EXPECT_EQ(std::ranges::count(all, "RINGLET_SECRET"), 1);
  for (const std::string& key : all) {
    const char *by_key = nullptr, *by_handle = nullptr;
    int bytes = -1;
    ASSERT_EQ(ncclParamGetParameter(key.c_str(), &by_key, &bytes), ncclSuccess) << LastMessage();
    ASSERT_EQ(ncclParamGetStr(Bound(key.c_str()), &by_handle), ncclSuccess);
    EXPECT_STREQ(by_key, by_handle);
    EXPECT_EQ(std::string(by_key).size(), static_cast<std::size_t>(bytes));
  }
  EXPECT_EQ(Bound("NCCL_DEBUG"), Bound("RINGLET_DEBUG"));
}

TEST(Params, NumbersCanBeReadInEverySize) {
  const ncclParamHandle_t handle = Bound("RINGLET_TREE_ARITY");
  std::int8_t i8 = 0;
  std::uint16_t u16 = 0;
  std::int64_t i64 = 0;
  EXPECT_EQ(ncclParamGetI8(handle, &i8), ncclSuccess);
  EXPECT_EQ(ncclParamGetU16(handle, &u16), ncclSuccess);
  EXPECT_EQ(ncclParamGetI64(handle, &i64), ncclSuccess);
  EXPECT_EQ(i8, 8);
  EXPECT_EQ(u16, 8);
  EXPECT_EQ(i64, 8);
  const ncclParamHandle_t large = Bound("RINGLET_TIMEOUT");
  EXPECT_EQ(ncclParamGetI8(large, &i8), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("does not fit into 8 bits"));
  std::int64_t raw = 0;
  int bytes = 0;
  EXPECT_EQ(ncclParamGet(large, &raw, sizeof raw, &bytes), ncclSuccess);
  EXPECT_EQ(bytes, 8);
  EXPECT_EQ(raw, 1'800'000);
  EXPECT_EQ(ncclParamGet(large, &raw, 7, &bytes), ncclInvalidArgument);
  EXPECT_EQ(bytes, 8);
  EXPECT_EQ(ncclParamGetI64(Bound("NCCL_SOCKET_IFNAME"), &i64), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("is not a number"));
}

TEST(Params, WrongUseIsRefused) {
  ncclParamHandle_t handle = nullptr;
  EXPECT_EQ(ncclParamBind(&handle, "NCCL_NO_SUCH"), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("there is no setting NCCL_NO_SUCH"));
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(ncclParamBind(&handle, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclParamBind(&handle, "NCCL_SECRET"), ncclInvalidArgument) << "NCCL has none";
  const auto no_handle = reinterpret_cast<ncclParamHandle_t>(UINTPTR_MAX);
  std::int32_t number = 0;
  const char* text = nullptr;
  int bytes = 0;
  for (const ncclParamHandle_t wrong : {static_cast<ncclParamHandle_t>(nullptr), no_handle}) {
    EXPECT_EQ(ncclParamGetI32(wrong, &number), ncclInvalidArgument);
    EXPECT_EQ(ncclParamGetStr(wrong, &text), ncclInvalidArgument);
    EXPECT_EQ(ncclParamGet(wrong, &number, 4, &bytes), ncclInvalidArgument);
  }
  handle = Bound("NCCL_DEBUG");
  EXPECT_EQ(ncclParamGetI32(handle, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetStr(handle, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGet(handle, nullptr, 4, &bytes), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGet(handle, &number, 4, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetParameter("NCCL_DEBUG", nullptr, &bytes), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetParameter("NCCL_DEBUG", &text, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetAllParameterKeys(nullptr, &bytes), ncclInvalidArgument);
  ncclParamDumpAll();
}

TEST(Encryption, IsRefusedAfterTheFirstCommunicator) {
  DestroyAll(InitAll(1));
  const std::string key(40, 'k');
  ncclEncryptionConfig_t config = NCCL_ENCRYPTION_CONFIG_INITIALIZER;
  config.mode = NCCL_ENCRYPTION_MODE_PSK;
  config.psk = key.c_str();
  EXPECT_EQ(ncclSetEncryption(&config), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("call this function before it creates the first"));
  config.psk = "short";
  EXPECT_EQ(ncclSetEncryption(&config), ncclInvalidArgument);
  EXPECT_EQ(ncclSetEncryption(nullptr), ncclSuccess) << "as NCCL";
}

// Runs in its own process, because encryption applies to the whole process.
TEST(EncryptionDeathTest, AppliesToTheWholeProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto encrypted = [] {
    const std::string key(40, 'k');
    ncclEncryptionConfig_t config = NCCL_ENCRYPTION_CONFIG_INITIALIZER;
    config.mode = NCCL_ENCRYPTION_MODE_PSK;
    config.psk = key.c_str();
    std::int32_t on = 0;
    bool right = ncclGetVersion(nullptr) == ncclInvalidArgument;  // accesses the process
    right = right && ncclSetEncryption(&config) == ncclSuccess;
    right = right && ncclParamGetI32(Bound("RINGLET_ENCRYPT"), &on) == ncclSuccess && on == 1;
    ExpectSum(InitAll(2));
    right = right && ncclSetEncryption(&config) == ncclSuccess;  // no change
    config.mode = NCCL_ENCRYPTION_MODE_NONE;
    right = right && ncclSetEncryption(&config) == ncclInvalidUsage;
    std::_Exit(right ? 17 : 1);
  };
  EXPECT_EXIT(encrypted(), testing::ExitedWithCode(17), "");
}

}  // namespace
}  // namespace ringlet::c_api
