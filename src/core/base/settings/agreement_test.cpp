#include "base/settings/agreement.hpp"

#include <gmock/gmock.h>

namespace ringlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(AgreementTest, DigestCoversOnlySettingsThatMustAgree) {
  Settings a, b;
  b.timeout = std::chrono::milliseconds(1);
  b.socket_ifname = "eth0";
  b.rank = 5;
  EXPECT_EQ(AgreementDigest(a), AgreementDigest(b));
  b.tree_arity = 4;
  EXPECT_NE(AgreementDigest(a), AgreementDigest(b));
}

TEST(AgreementTest, DigestCoversEncryption) {
  Settings a, b;
  b.encrypt = true;
  EXPECT_NE(AgreementDigest(a), AgreementDigest(b));
}

TEST(AgreementTest, DifferencesStateVariableAndBothValues) {
  Settings mine, theirs;
  theirs.tree_arity = 4;
  theirs.links = LinkChoice::kTcp;
  const auto differences = CompareAgreement(mine, EncodeAgreement(theirs)).value();
  EXPECT_THAT(differences, ElementsAre(SettingDifference{"RINGLET_LINKS", {"auto"}, {"tcp"}},
                                       SettingDifference{"RINGLET_TREE_ARITY", {"8"}, {"4"}}));
  EXPECT_EQ(ToText(differences[1], "rank 0", "rank 1"),
            "RINGLET_TREE_ARITY is \"8\" on rank 0 and \"4\" on rank 1");
  EXPECT_THAT(*CompareAgreement(mine, EncodeAgreement(mine)), IsEmpty());
}

TEST(AgreementTest, DifferencesUseTheVariableNamesThatTheUserSet) {
  const FileVariables none;
  FileVariables file;
  file.Add("NCCL_MIN_NCHANNELS=2", "/etc/nccl.conf");
  const auto difference = [](const EnvMap& mine, const FileVariables& files, const EnvMap& theirs) {
    const Bytes told = EncodeAgreement(ParseSettings(theirs).value());
    return ToText(CompareAgreement(ParseSettings(mine, files).value(), told).value().at(0),
                  "rank 0", "rank 1");
  };
  const EnvMap nccl = {{"NCCL_MIN_NCHANNELS", "1"}};
  EXPECT_EQ(difference({}, none, nccl),
            "NCCL_MIN_NCHANNELS is \"1\" on rank 1 and \"0\" on rank 0 by default");
  EXPECT_EQ(
      difference({}, file, {}),
      "NCCL_MIN_NCHANNELS in /etc/nccl.conf is \"2\" on rank 0 and \"0\" on rank 1 by default");
  EXPECT_EQ(difference(nccl, file, {{"RINGLET_MIN_NCHANNELS", "3"}}),
            "NCCL_MIN_NCHANNELS is \"1\" on rank 0 and RINGLET_MIN_NCHANNELS is \"3\" on rank 1");
  EXPECT_EQ(difference(nccl, none, {{"NCCL_MIN_NCHANNELS", "4"}}),
            "NCCL_MIN_NCHANNELS is \"1\" on rank 0 and \"4\" on rank 1");
}

TEST(AgreementTest, ASettingThatOneSideLacksIsADifference) {
  Writer later;
  later.U16(1).Text("RINGLET_NEW").Text("1").Text("");
  const auto differences = CompareAgreement(Settings(), later.view()).value();
  EXPECT_THAT(differences, testing::Contains(SettingDifference{"RINGLET_NEW", {""}, {"1"}}));
}

TEST(AgreementTest, EncodedSettingsContainNoSecret) {
  Settings settings;
  settings.secret.text = settings.unique_id.text = "hush-hush";
  const Bytes bytes = EncodeAgreement(settings);
  EXPECT_THAT(std::string(AsText(bytes)), Not(HasSubstr("hush")));
  EXPECT_LE(bytes.size(), kAgreementBytesMax);
}

TEST(AgreementTest, UnparsableTextIsAProtocolError) {
  const Bytes good = EncodeAgreement(Settings());
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    const auto bad = CompareAgreement(Settings(), View(good).first(bytes));
    ASSERT_FALSE(bad.ok()) << bytes;
    EXPECT_EQ(bad.error().code, Code::kProtocol);
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(CompareAgreement(Settings(), longer).ok());
}

}  // namespace
}  // namespace ringlet
