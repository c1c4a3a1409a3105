#include "base/settings/settings.hpp"

#include <gmock/gmock.h>

#include "base/settings/setting_table.hpp"

namespace ringlet {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ErrorOf(const EnvMap& env) {
  const Result<Settings> settings = ParseSettings(env);
  if (settings.ok()) return "no error";
  EXPECT_EQ(settings.error().code, Code::kInvalidArgument);
  return settings.error().message;
}

TEST(SettingsTest, AnEmptyEnvironmentGivesTheDefaults) {
  const Settings settings = ParseSettings({}).value();
  EXPECT_EQ(settings.init_timeout, milliseconds(300'000));
  EXPECT_EQ(settings.timeout, milliseconds(1'800'000));
  EXPECT_EQ(settings.handshake_timeout, milliseconds(10'000));
  EXPECT_EQ(settings.tree_arity, 8u);
  EXPECT_EQ(settings.pipe_bytes, 262'144u);
  EXPECT_EQ(settings.links, LinkChoice::kAuto);
  EXPECT_EQ(settings.bootstrap, BootstrapShape::kTree);
  EXPECT_EQ(settings.rank, std::nullopt);
  EXPECT_THAT(settings.warnings, IsEmpty());
}

TEST(SettingsTest, EveryKindOfValueIsRead) {
  const Settings settings = ParseSettings({{"RINGLET_INIT_TIMEOUT", "2.5"},
                                           {"RINGLET_TREE_ARITY", "0x10"},
                                           {"RINGLET_PIPE_BYTES", "010000"},
                                           {"RINGLET_LINKS", "TCP"},
                                           {"RINGLET_BOOTSTRAP", "ring"},
                                           {"RINGLET_SOCKET_FAMILY", "AF_INET6"},
                                           {"RINGLET_DEBUG", "info"},
                                           {"RINGLET_DEBUG_SUBSYS", "^INIT"},
                                           {"RINGLET_SECRET", "s3cret"},
                                           {"RINGLET_ENCRYPT", "1"},
                                           {"RINGLET_RANK", "3"},
                                           {"RINGLET_WORLD_SIZE", "4"}})
                                .value();
  EXPECT_EQ(settings.init_timeout, milliseconds(2500));
  EXPECT_EQ(settings.tree_arity, 16u);
  EXPECT_EQ(settings.pipe_bytes, 4096u);
  EXPECT_EQ(settings.links, LinkChoice::kTcp);
  EXPECT_EQ(settings.bootstrap, BootstrapShape::kRing);
  EXPECT_EQ(settings.socket_family, SocketFamily::kIpv6);
  EXPECT_EQ(settings.debug, LogLevel::kInfo);
  EXPECT_EQ(settings.debug_subsystems.bits, ~0x1u);
  EXPECT_EQ(settings.secret.text, "s3cret");
  EXPECT_TRUE(settings.encrypt);
  EXPECT_EQ(settings.rank, 3u);
  EXPECT_EQ(settings.world_size, 4u);
}

TEST(SettingsTest, ASwitchIsZeroOrOneAndNothingElse) {
  EXPECT_FALSE(ParseSettings({})->encrypt);
  EXPECT_FALSE(ParseSettings({{"RINGLET_ENCRYPT", "0"}})->encrypt);
  for (const char* const text : {"yes", "2", "01", "true"})
    EXPECT_EQ(ErrorOf({{"RINGLET_ENCRYPT", text}}),
              "RINGLET_ENCRYPT is \"" + std::string(text) + "\", but it must be 0 or 1");
}

TEST(SettingsTest, RingletsNameOverridesNcclsAndEmptyIsUnset) {
  EXPECT_EQ(ParseSettings({{"NCCL_DEBUG", "TRACE"}})->debug, LogLevel::kTrace);
  EXPECT_EQ(ParseSettings({{"NCCL_DEBUG", "TRACE"}, {"RINGLET_DEBUG", "NONE"}})->debug,
            LogLevel::kNone);
  EXPECT_EQ(ParseSettings({{"NCCL_DEBUG", "TRACE"}, {"RINGLET_DEBUG", ""}})->debug,
            LogLevel::kTrace);
}

TEST(SettingsTest, SettingsOfRingletAloneAreNotReadWithNcclsPrefix) {
  EXPECT_EQ(ParseSettings({{"NCCL_TREE_ARITY", "x"}})->tree_arity, 8u);
  EXPECT_EQ(ParseSettings({{"NCCL_SECRET", "x"}})->secret.text, "");
}

TEST(SettingsTest, ErrorStatesVariableValueAndAllowedValues) {
  EXPECT_THAT(ErrorOf({{"RINGLET_TREE_ARITY", "1"}}),
              AllOf(HasSubstr("RINGLET_TREE_ARITY is \"1\""), HasSubstr("from 2 to 256")));
  EXPECT_THAT(ErrorOf({{"RINGLET_DEBUG", "LOUD"}}),
              AllOf(HasSubstr("RINGLET_DEBUG is \"LOUD\""), HasSubstr("NONE, VERSION, WARN")));
  EXPECT_THAT(ErrorOf({{"RINGLET_PIPE_BYTES", "5000"}}), HasSubstr("a power of two"));
  EXPECT_THAT(ErrorOf({{"RINGLET_DEBUG_SUBSYS", "INIT,X"}}),
              AllOf(HasSubstr("RINGLET_DEBUG_SUBSYS"), HasSubstr("\"X\" is not a log subsystem")));
}

TEST(SettingsTest, BoundsAreInclusive) {
  EXPECT_EQ(ParseSettings({{"RINGLET_PIPE_BYTES", "67108864"}})->pipe_bytes, 67'108'864u);
  EXPECT_THAT(ErrorOf({{"RINGLET_PIPE_BYTES", "134217728"}}), HasSubstr("RINGLET_PIPE_BYTES"));
  EXPECT_THAT(ErrorOf({{"RINGLET_PIPE_BYTES", "2048"}}), HasSubstr("RINGLET_PIPE_BYTES"));
  EXPECT_EQ(ParseSettings({{"RINGLET_TIMEOUT", "0.1"}})->timeout, milliseconds(100));
  EXPECT_EQ(ParseSettings({{"RINGLET_TIMEOUT", "604800"}})->timeout, milliseconds(604'800'000));
}

TEST(SettingsTest, RefusesInvalidSeconds) {
  for (const char* text : {"0", "0.099", "-1", "1.", "1.2345", "1,5", "5s", "604801", "1.2.3", ".",
                           "18446744073709551615"})
    EXPECT_THAT(ErrorOf({{"RINGLET_TIMEOUT", text}}), HasSubstr("RINGLET_TIMEOUT")) << text;
  EXPECT_EQ(ParseSettings({{"RINGLET_TIMEOUT", ".5"}})->timeout, milliseconds(500));
}

TEST(SettingsTest, ErrorsOmitTheValueOfASecret) {
  const std::string secret(kSettingTextBytesMax + 1, 'x');
  EXPECT_THAT(ErrorOf({{"RINGLET_SECRET", secret}}),
              AllOf(HasSubstr("not shown"), Not(HasSubstr("xxx"))));
}

TEST(SettingsTest, ControlCharactersOfAValueStayOutOfTheError) {
  EXPECT_THAT(ErrorOf({{"RINGLET_LINKS", "a\nb"}}), HasSubstr("\"a\\nb\""));
}

TEST(SettingsTest, WarnsOfUnknownVariablesAndSuggestsASimilarName) {
  EXPECT_THAT(ParseSettings({{"RINGLET_TREE_ARTY", "4"}, {"RINGLET_ZZZZZZZZ", ""}, {"PATH", "/"}})
                  ->warnings,
              ElementsAre(AllOf(HasSubstr("RINGLET_TREE_ARTY"),
                                HasSubstr("did you mean RINGLET_TREE_ARITY?")),
                          AllOf(HasSubstr("RINGLET_ZZZZZZZZ"), Not(HasSubstr("did you mean")))));
  EXPECT_THAT(ParseSettings({{"RINGLET_TREE_AR", "4"}})->warnings,
              ElementsAre(HasSubstr("did you mean RINGLET_TREE_ARITY?")))
      << "three letters are missing, as many as may be";
}

TEST(SettingsTest, DoesNotWarnOfVariablesThatOtherPartsRead) {
  const auto settings = ParseSettings({{"RINGLET_EMULATE_DEVICES", "8"},
                                       {"RINGLET_EMULATE_MEMORY", "1"},
                                       {"RINGLET_EMULATE_KERNELS", "/x.so"},
                                       {"RINGLET_EMULATE_HOST", "1"},
                                       {"RINGLET_TOOL", "/usr/bin/ringlet"},
                                       {"RINGLET_AS_GLOO", "1"},
                                       {"RINGLET_EMULATE_DEVICE", "8"}});
  EXPECT_THAT(settings->warnings, ElementsAre(HasSubstr("RINGLET_EMULATE_DEVICE is not")));
}

TEST(SettingsTest, WarnsOfUnknownNcclVariables) {
  const auto settings = ParseSettings({{"NCCL_IB_HCAS", "mlx5_0"},
                                       {"NCCL_DEBUGG", "INFO"},
                                       {"NCCL_TREE_ARITY", "4"},
                                       {"NCCL_CONF_FILE", "/x"}});
  EXPECT_THAT(settings->warnings,
              ElementsAre(HasSubstr("NCCL_DEBUGG is not a setting of NCCL or Ringlet and is "
                                    "ignored; did you mean NCCL_DEBUG?"),
                          HasSubstr("did you mean NCCL_IB_HCA?"),
                          AllOf(HasSubstr("NCCL_TREE_ARITY"), Not(HasSubstr("did you mean")))));
  EXPECT_THAT(settings->notes, IsEmpty());
}

TEST(SettingsTest, DoesNotWarnOfTunerVariablesIfATunerIsSet) {
  EnvMap variables = {{"NCCL_TUNER_CONFIG_FILE", "rules"}, {"NCCL_MY_TUNER_LEVEL", "3"}};
  EXPECT_THAT(ParseSettings(variables)->notes, ElementsAre(HasSubstr("NCCL_TUNER_CONFIG_FILE")));
  EXPECT_THAT(ParseSettings(variables)->warnings, ElementsAre(HasSubstr("NCCL_MY_TUNER_LEVEL")));
  variables["NCCL_TUNER_PLUGIN"] = "mine";
  EXPECT_THAT(ParseSettings(variables)->notes, IsEmpty());
  EXPECT_THAT(ParseSettings(variables)->warnings, IsEmpty());
}

TEST(SettingsTest, IgnoresTheNcclVersionOfCudaImagesSilently) {
  const auto settings = ParseSettings({{"NCCL_VERSION", "2.27.7-1"}});
  EXPECT_THAT(settings->warnings, IsEmpty());
  EXPECT_THAT(settings->notes, IsEmpty());
}

TEST(SettingsTest, ListsVariablesThatOnlyNcclReadsInASingleNote) {
  const auto settings =
      ParseSettings({{"NCCL_NTHREADS", "512"}, {"NCCL_BUFFSIZE", "1"}, {"NCCL_DEBUG", "WARN"}});
  EXPECT_THAT(settings->notes,
              ElementsAre("NCCL_BUFFSIZE, NCCL_NTHREADS: NCCL reads this, and Ringlet does not"));
  EXPECT_THAT(settings->warnings, IsEmpty());
}

TEST(SettingsTest, FilesSetVariablesThatTheEnvironmentLacks) {
  FileVariables files;
  files.Add("NCCL_DEBUG=INFO\nRINGLET_TREE_ARITY=4\nNCCL_ALGO=ring\nNCCL_OLD=1\nnonsense\n",
            "conf");
  const Settings settings =
      ParseSettings({{"RINGLET_TREE_ARITY", "2"}, {"NCCL_ALGO", ""}}, files).value();
  EXPECT_EQ(settings.debug, LogLevel::kInfo);
  EXPECT_EQ(settings.tree_arity, 2u);
  EXPECT_EQ(settings.algo, "") << "a name that the environment has, even empty, is not looked for";
  EXPECT_THAT(settings.origins, Contains("NCCL_DEBUG in conf"));
  EXPECT_THAT(settings.origins, Contains("RINGLET_TREE_ARITY"));
  EXPECT_THAT(settings.warnings,
              ElementsAre(HasSubstr("conf:5 is ignored"), HasSubstr("NCCL_OLD")));
}

TEST(SettingsTest, ErrorsOfFileValuesNameTheFile) {
  FileVariables files;
  files.Add("RINGLET_DEBUG=LOUD\nNCCL_DEBUGG=x", "/etc/nccl.conf");
  EXPECT_THAT(ParseSettings({}, files).error().message,
              HasSubstr("RINGLET_DEBUG in /etc/nccl.conf is \"LOUD\""));
  EXPECT_THAT(ParseSettings({{"RINGLET_DEBUG", "WARN"}}, files)->warnings,
              ElementsAre(HasSubstr("NCCL_DEBUGG in /etc/nccl.conf is not a setting")));
}

TEST(SettingsTest, NoValueOfAnNcclVariableStopsAProgramThatNcclWouldRun) {
  for (const SettingSpec& spec : kSettings) {
    const bool any_text =
        std::holds_alternative<std::string Settings::*>(spec.field) && spec.choices.empty();
    if (!spec.has_nccl_alias || any_text) continue;
    const std::string name(spec.name);
    for (const std::string text : {"debug", "-5", "99999999999999999999", "112", "1 ", "^", ","}) {
      const auto theirs = ParseSettings({{"NCCL_" + name, text}});
      ASSERT_TRUE(theirs.ok()) << theirs.error().message;
      if (ParseSettings({{"RINGLET_" + name, text}}).ok()) continue;
      EXPECT_THAT(theirs->warnings, ElementsAre(HasSubstr("NCCL_" + name + " is \"" + text + '"')));
    }
  }
}

TEST(SettingsTest, ParsesNcclVariablesLikeNccl) {
  const auto read = [](std::string_view name, const char* text) {
    return ParseSettings({{"NCCL_" + std::string(name), text}}).value();
  };
  EXPECT_EQ(read("DEBUG", "debug").debug, LogLevel::kWarn);
  EXPECT_EQ(read("MIN_NCHANNELS", "112").min_nchannels, 64u);
  EXPECT_EQ(read("MAX_NCHANNELS", "0x80").max_nchannels, 64u);
  EXPECT_EQ(read("MAX_NCHANNELS", "-2").max_nchannels, 0u);
  EXPECT_EQ(read("CROSS_NIC", "99999999999999999999").cross_nic, 2u) << "the default";
  EXPECT_EQ(read("CROSS_NIC", "1;").cross_nic, 1u);
  EXPECT_EQ(read("CROSS_NIC", "yes").cross_nic, 0u);
  EXPECT_EQ(read("CROSS_NIC", " +010").cross_nic, 2u);
  EXPECT_TRUE(read("SHM_DISABLE", "1 # never").shm_disable);
  EXPECT_FALSE(read("PXN_C2C", "no").pxn_c2c);
  EXPECT_EQ(read("NET_GDR_READ", "3").net_gdr_read, 1u);
  EXPECT_EQ(read("P2P_LEVEL", "far").p2p_level, "");
  EXPECT_EQ(read("P2P_LEVEL", "7").p2p_level, "7");
  EXPECT_EQ(read("NETDEVS_POLICY", "MAX:0").netdevs_policy, "");
  EXPECT_EQ(read("NETDEVS_POLICY", "max:2").netdevs_policy, "max:2");
  EXPECT_EQ(ToString(read("DEBUG_SUBSYS", "^INIT,FOO").debug_subsystems), "^INIT");
  EXPECT_EQ(read("DEBUG_SUBSYS", "FOO").debug_subsystems.bits, SubsystemMask().bits);
  EXPECT_THAT(read("MIN_NCHANNELS", "112").warnings,
              ElementsAre("NCCL_MIN_NCHANNELS is \"112\", but it must be an integer from 0 to 64; "
                          "Ringlet uses 64 instead"));
}

TEST(SettingsTest, WarnsIfMinimumChannelsExceedMaximumChannels) {
  EXPECT_THAT(
      ParseSettings({{"NCCL_MIN_CTAS", "32"}, {"NCCL_MAX_NCHANNELS", "16"}})->warnings,
      ElementsAre(AllOf(HasSubstr("is 32, above"), HasSubstr("is 16; the minimum counts"))));
  EXPECT_THAT(
      ParseSettings({{"NCCL_MIN_NCHANNELS", "112"}, {"NCCL_MAX_NCHANNELS", "128"}})->warnings,
      testing::SizeIs(2));
}

TEST(SettingsTest, ReportsTheVariableThatSetASetting) {
  FileVariables files;
  files.Add("NCCL_GRAPH_FILE=/x", "conf");
  const Settings settings = ParseSettings({{"NCCL_TOPO_FILE", "/y"}}, files).value();
  EXPECT_EQ(VariableOf(settings, "GRAPH_FILE"), "NCCL_GRAPH_FILE in conf");
  EXPECT_EQ(VariableOf(settings, "TOPO_FILE"), "NCCL_TOPO_FILE");
  EXPECT_TRUE(IsSetByNccl(settings, "TOPO_FILE"));
  EXPECT_EQ(VariableOf(settings, "TRACE"), "RINGLET_TRACE");
  EXPECT_EQ(VariableOf({}, "TRACE"), "RINGLET_TRACE");
  EXPECT_FALSE(IsSetByNccl({}, "TRACE"));
}

TEST(SettingsTest, ARankMustBeBelowTheWorldSize) {
  EXPECT_THAT(ErrorOf({{"RINGLET_RANK", "first"}}), HasSubstr("RINGLET_RANK is \"first\""));
  EXPECT_THAT(ErrorOf({{"RINGLET_RANK", "4"}, {"RINGLET_WORLD_SIZE", "4"}}),
              AllOf(HasSubstr("RINGLET_RANK is 4"), HasSubstr("RINGLET_WORLD_SIZE")));
  EXPECT_THAT(ErrorOf({{"RINGLET_LOCAL_RANK", "9"}, {"RINGLET_WORLD_SIZE", "4"}}),
              HasSubstr("RINGLET_LOCAL_RANK"));
}

}  // namespace
}  // namespace ringlet
