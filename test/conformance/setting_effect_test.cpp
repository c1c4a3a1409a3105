// The effect of each setting: one test per setting, of the same name. Every setting has one.
// Settings of machines with GPUs are in device_setting_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "base/settings/setting_table.hpp"
#include "comm/control/link_request.hpp"
#include "comm/establish/ranks_for_test.hpp"
#include "comm/establish/root.hpp"
#include "comm/establish/stages.hpp"
#include "os/clock.hpp"
#include "os/fs/shared_library.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "os/net/listener.hpp"
#include "os/net/local_ask.hpp"
#include "rendezvous/invitation.hpp"
#include "topo/edit/synthetic.hpp"
#include "topology/xml/xml_writer.hpp"
#include "watch/server.hpp"

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Formed = Result<std::unique_ptr<Communicator>>;
using Ask = std::function<std::string(Communicator&)>;

std::string ErrorText(const Formed& formed) {
  return formed.ok() ? "no error" : formed.error().message;
}

/// Returns the answer of rank 0 among this number of ranks. They then leave together.
std::string OfRankZero(std::uint32_t size, const EnvMap& environment, const Ask& ask) {
  std::string answer;
  RunRanks(size, environment, [&](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank == 0) answer = ask(**formed);
    EXPECT_TRUE(SumOfRanks(**formed, 100).ok());
  });
  return answer;
}

std::string Links(Communicator& communicator) {
  return communicator.host_memory().IsHere() ? "memory" : communicator.links().Summary();
}
std::string Channels(Communicator& communicator) {
  return std::to_string(communicator.plan().channel_count());
}

/// Returns the options of a connection to another rank.
std::string LinkOptions(const EnvMap& environment,
                        const std::function<std::string(const transport::ConnectRequest&)>& of) {
  return OfRankZero(2, environment, [&](Communicator& communicator) {
    const auto request = RequestFor(communicator.origin(), {Rank{1}}, communicator.peer_table(),
                                    communicator.control(), os::Now() + std::chrono::seconds(5));
    return request.ok() ? of(*request) : request.error().message;
  });
}

/// Returns the configuration of a joining rank.
Result<bootstrap::MemberConfig> MemberWith(const EnvMap& environment) {
  const auto process = ProcessWith(environment);
  Config config{.size = 2};
  RINGLET_TRY_ASSIGN(config.id, CreateUniqueId(process));
  RINGLET_TRY_ASSIGN(const auto invitations, ReadIds(*process, config));
  RINGLET_TRY_ASSIGN(const LocalHost local_host, DiscoverLocal(*process, config));
  RINGLET_TRY_ASSIGN(const Listeners listeners,
                     OpenListeners(*process, invitations.front(), config, local_host));
  return MemberConfigOf(*process, config, invitations, listeners, {});
}

std::vector<Address> AddressesWith(const EnvMap& environment) {
  const auto addresses = ProcessWith(environment)->host_reader().ReachableAddresses();
  return addresses.ok() ? *addresses : std::vector<Address>();
}

std::string Content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Two NUMA nodes of 32 CPUs. The first has number 0.
const std::string kMachine = RINGLET_FIXTURES "/topologies/nvidia/3090x8_panlichen.topo.xml";

class SettingEffect : public testing::Test {
 protected:
  os::TempTree tree_;
};

// ---- bootstrap ----------------------------------------------------------------------------------

TEST_F(SettingEffect, INIT_TIMEOUT) {
  const auto process = ProcessWith({{"RINGLET_INIT_TIMEOUT", "1"}});
  Config config{.size = 2};
  config.id = CreateUniqueId(process).value();
  const Formed formed = Establish(process, config, {});
  ASSERT_FALSE(formed.ok());
  EXPECT_EQ(formed.error().code, Code::kTimeout);
  EXPECT_THAT(formed.error().message, HasSubstr("rank 1"));
}

TEST_F(SettingEffect, HANDSHAKE_TIMEOUT) {
  EXPECT_EQ(MemberWith({})->handshake_timeout, std::chrono::seconds(10));
  EXPECT_EQ(MemberWith({{"RINGLET_HANDSHAKE_TIMEOUT", "2"}})->handshake_timeout,
            std::chrono::seconds(2));
}

TEST_F(SettingEffect, COMM_ID) {
  const auto id = CreateUniqueId(ProcessWith({{"NCCL_COMM_ID", "127.0.0.1:4711"}})).value();
  EXPECT_EQ(rendezvous::Decode(id)->roots, std::vector{Address::Ipv4(127, 0, 0, 1, 4711)});
}

TEST_F(SettingEffect, SECRET) {
  const auto secret_with = [](const std::string& text) {
    const EnvMap environment = {{"NCCL_COMM_ID", "127.0.0.1:4711"}, {"RINGLET_SECRET", text}};
    return rendezvous::Decode(*CreateUniqueId(ProcessWith(environment)))->credentials.secret;
  };
  EXPECT_NE(secret_with("one"), secret_with("other"));
  EXPECT_EQ(secret_with("one"), secret_with("one"));
}

TEST_F(SettingEffect, ENCRYPT) {
  EXPECT_FALSE(MemberWith({})->lines.encrypt);
  EXPECT_TRUE(MemberWith({{"RINGLET_ENCRYPT", "1"}})->lines.encrypt);
}

TEST_F(SettingEffect, SOCKET_IFNAME) {
  for (const Address& address : AddressesWith({{"NCCL_SOCKET_IFNAME", "=lo"}}))
    EXPECT_THAT(ToString(address), testing::AnyOf(HasSubstr("127.0.0.1"), HasSubstr("[::1]")));
  EXPECT_FALSE(AddressesWith({{"NCCL_SOCKET_IFNAME", "=lo"}}).empty());
}

TEST_F(SettingEffect, SOCKET_FAMILY) {
  const auto v6 = [](const Address& address) { return ToString(address).starts_with("["); };
  const auto is_v4 = AddressesWith({{"NCCL_SOCKET_FAMILY", "AF_INET"}});
  EXPECT_TRUE(std::none_of(is_v4.begin(), is_v4.end(), v6));
  const auto is_v6 = AddressesWith({{"NCCL_SOCKET_FAMILY", "AF_INET6"}});
  EXPECT_TRUE(std::all_of(is_v6.begin(), is_v6.end(), v6));
  EXPECT_NE(is_v4, is_v6);
}

TEST_F(SettingEffect, HOSTID) {
  const auto process_of = [](std::uint32_t rank) {
    return ProcessWith({{"NCCL_HOSTID", rank == 0 ? "a" : "b"}});
  };
  RunRanks(2, process_of, [](std::uint32_t, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    EXPECT_EQ((*formed)->peer_table().hosts.size(), 2u);
  });
}

TEST_F(SettingEffect, BOOTSTRAP) {
  EXPECT_EQ(MemberWith({})->shape, bootstrap::Shape::kTree);
  EXPECT_EQ(MemberWith({{"RINGLET_BOOTSTRAP", "ring"}})->shape, bootstrap::Shape::kRing);
}

TEST_F(SettingEffect, TREE_ARITY) {
  EXPECT_EQ(MemberWith({})->arity, 8);
  EXPECT_EQ(MemberWith({{"RINGLET_TREE_ARITY", "3"}})->arity, 3);
}

TEST_F(SettingEffect, NODE_LEADER) {
  EXPECT_TRUE(MemberWith({})->node_leader);
  EXPECT_FALSE(MemberWith({{"RINGLET_NODE_LEADER", "0"}})->node_leader);
}

TEST_F(SettingEffect, HEARTBEAT_TIMEOUT) {
  EXPECT_EQ(MemberWith({})->silence_max, std::chrono::seconds(60));
  EXPECT_EQ(MemberWith({{"RINGLET_HEARTBEAT_TIMEOUT", "0"}})->silence_max, Instant(0));
}

TEST_F(SettingEffect, TRACE) {
  OfRankZero(2, {{"RINGLET_TRACE", tree_.At("trace")}}, Links);
  EXPECT_THAT(Content(tree_.At("trace")), HasSubstr("traceEvents"));
}

TEST_F(SettingEffect, IGNORE_CPU_AFFINITY) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  std::size_t cpu = 0;
  while (!CPU_ISSET(cpu, &all)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const auto cpus = [&](const char* ignore) {
    const auto process =
        ProcessWith({{"NCCL_IGNORE_CPU_AFFINITY", ignore}, {"NCCL_TOPO_FILE", kMachine}});
    return DiscoverLocal(*process, {.size = 1})->cpus.Count();
  };
  EXPECT_EQ(cpus("0"), 1u);
  EXPECT_EQ(cpus("1"), 32u) << "all of a NUMA node of that machine";
  EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

// ---- links --------------------------------------------------------------------------------------

TEST_F(SettingEffect, LINKS) {
  EXPECT_EQ(OfRankZero(2, {}, Links), "memory");
  EXPECT_THAT(OfRankZero(2, {{"RINGLET_LINKS", "tcp"}}, Links), HasSubstr("tcp"));
}

TEST_F(SettingEffect, SHM_DISABLE) {
  EXPECT_THAT(OfRankZero(2, {{"NCCL_SHM_DISABLE", "1"}}, Links), HasSubstr("tcp"));
}

TEST_F(SettingEffect, NET) {
  EXPECT_THAT(OfRankZero(2, {{"NCCL_SHM_DISABLE", "1"}, {"RINGLET_NET", "ofi"}}, Links),
              HasSubstr("ofi"));
}

TEST_F(SettingEffect, OFI_PROVIDER) {
  const EnvMap environment = {{"RINGLET_LINKS", "ofi"}, {"RINGLET_OFI_PROVIDER", "no such"}};
  RunRanks(2, environment, [](std::uint32_t, Formed formed) {
    EXPECT_THAT(ErrorText(formed), HasSubstr("no such"));
  });
}

TEST_F(SettingEffect, SOCKETS_PER_LINK) {
  const auto strands = [](const auto& request) { return std::to_string(request.options.strands); };
  EXPECT_EQ(LinkOptions({}, strands), "1");
  EXPECT_EQ(LinkOptions({{"RINGLET_SOCKETS_PER_LINK", "3"}}, strands), "3");
}

TEST_F(SettingEffect, TCP_CONGESTION) {
  const auto process = Process::Start({{"RINGLET_TCP_CONGESTION", "nosuch"}});
  ASSERT_FALSE(process.ok());
  EXPECT_THAT(process.error().message,
              AllOf(HasSubstr("RINGLET_TCP_CONGESTION"), HasSubstr("nosuch")));
  EXPECT_EQ(LinkOptions({{"RINGLET_TCP_CONGESTION", "reno"}},
                        [](const auto& request) { return request.options.congestion; }),
            "reno");
}

TEST_F(SettingEffect, PIPE_BYTES) {
  const auto bytes = [](const auto& request) { return std::to_string(request.options.pipe_bytes); };
  EXPECT_EQ(LinkOptions({}, bytes), "2097152");
  EXPECT_EQ(LinkOptions({{"RINGLET_PIPE_BYTES", "8192"}}, bytes), "8192");
}

// ---- collectives --------------------------------------------------------------------------------

TEST_F(SettingEffect, TIMEOUT) {
  std::latch failed(1);
  RunRanks(2, {{"RINGLET_TIMEOUT", "0.2"}}, [&](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank == 1) return failed.wait();
    const Status status = Barrier(**formed);
    failed.count_down();
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, AllOf(HasSubstr("200 ms"), HasSubstr("rank 1")));
  });
}

/// Sums over four ranks. The result depends on the order of adding.
float SumInOrder(const EnvMap& environment) {
  constexpr std::size_t kCount = 8192;  // more than goes in one shot
  float sum = 0;
  // Emulates processes: threads of one reach each other's memory, without a layout.
  const auto process_of = [&](std::uint32_t) { return ProcessWith(environment); };
  RunRanks(4, process_of, [&](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const float mine[] = {1e8f, 1, -1e8f, 1};
    std::vector<float> data(kCount, mine[rank]);
    const auto bytes = std::as_writable_bytes(std::span(data));
    EXPECT_TRUE(AllReduce(**formed, {.input = bytes, .output = bytes, .count = kCount}).ok());
    if (rank == 0) sum = data.back();
  });
  return sum;
}

TEST_F(SettingEffect, NUMA_RANKS) {
  EXPECT_EQ(SumInOrder({{"RINGLET_NUMA_RANKS", "1"}}), 1) << "((1e8 + 1) - 1e8) + 1";
  EXPECT_EQ(SumInOrder({{"RINGLET_NUMA_RANKS", "2"}}), 0) << "(1e8 + 1) + (-1e8 + 1)";
}

TEST_F(SettingEffect, HOST_MEMORY) {
  EXPECT_THAT(OfRankZero(2, {{"RINGLET_HOST_MEMORY", "0"}}, Links), Not(HasSubstr("memory")));
}

TEST_F(SettingEffect, WAIT) {
  const Ask policy = [](Communicator& communicator) {
    const collective::WaitPolicy& wait = communicator.spinner().wait_policy();
    return std::string(wait.looks > 0 ? "looks " : "") + (wait.yields > 0 ? "yields" : "");
  };
  EXPECT_EQ(OfRankZero(2, {{"RINGLET_WAIT", "spin"}}, policy), "looks yields");
  EXPECT_EQ(OfRankZero(2, {{"RINGLET_WAIT", "yield"}}, policy), "yields");
  EXPECT_EQ(OfRankZero(2, {{"RINGLET_WAIT", "sleep"}}, policy), "");
}

// ---- machine and plan ---------------------------------------------------------------------------

TEST_F(SettingEffect, MACHINE) {
  const auto nodes = [&](const EnvMap& environment) {
    return OfRankZero(1, environment, [](Communicator& communicator) {
      return communicator.backend().machine()
                 ? std::to_string(communicator.backend().machine()->gpus().nodes.size())
                 : "none";
    });
  };
  EXPECT_EQ(nodes({}), "none");
  EXPECT_EQ(nodes({{"RINGLET_MACHINE", RINGLET_FIXTURES "/topo-vectors/gpu4-nic4.xml"}}), "1");
}

TEST_F(SettingEffect, TRAFFIC_DIR) {
  const os::TempTree folder;
  const EnvMap environment{{"RINGLET_MACHINE", RINGLET_FIXTURES "/topo-vectors/gpu4-nic4.xml"},
                           {"RINGLET_TRAFFIC_DIR", folder.root()}};
  OfRankZero(1, environment, [](Communicator&) { return ""; });
  EXPECT_FALSE(std::filesystem::is_empty(folder.root()));
}

TEST_F(SettingEffect, FAULT) {
  const auto sum = [](const char* fault) {
    OfRankZero(1, {{"RINGLET_FAULT", fault}}, [](Communicator&) { return ""; });
    std::exit(0);
  };
  EXPECT_EXIT(sum("0@all_reduce"), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(sum("0@all_reduce:9"), testing::ExitedWithCode(0), "");
}

TEST_F(SettingEffect, FAULT_FILE) {
  const std::string file = tree_.At("struck");
  const auto sum = [&](const char* fault) {
    OfRankZero(1, {{"RINGLET_FAULT", fault}, {"RINGLET_FAULT_FILE", file}},
               [](Communicator&) { return ""; });
    std::exit(0);
  };
  EXPECT_EXIT(sum("0@all_reduce:9"), testing::ExitedWithCode(0), "");
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EXIT(sum("0@all_reduce"), testing::KilledBySignal(SIGKILL), "");
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(SettingEffect, TOPO_FILE) {
  const auto gpus = [](const EnvMap& environment) {
    return DiscoverLocal(*ProcessWith(environment), {.size = 1})->view.gpus.size();
  };
  EXPECT_EQ(gpus({{"NCCL_TOPO_FILE", RINGLET_FIXTURES "/topo-vectors/gpu4-nic4.xml"}}), 4u);
}

// A host per rank, on a network slower than the computer that runs the test.
TEST_F(SettingEffect, PACE) {
  tree_.Write(
      "slow.xml",
      ToXml(topology::ParseSynthetic("(numa: (switch: 1 gpu a100-sxm4, 1 nic 1g))").value()));
  const auto process_of = [&](std::uint32_t rank) {
    return ProcessWith({{"RINGLET_MACHINE", tree_.At("slow.xml")},
                        {"RINGLET_HOSTID", std::to_string(rank)},
                        {"RINGLET_LOCAL_RANK", "0"},
                        {"RINGLET_PACE", "1"}});
  };
  RunRanks(2, process_of, [](std::uint32_t, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const Instant begin = os::Now();
    EXPECT_TRUE(SumOfRanks(**formed, 250'000).ok());
    EXPECT_GE(os::Now() - begin, std::chrono::milliseconds(8)) << "1 MB at 125 MB/s";
  });
}

// The plan does not know that the network has lost nine tenths of its rate.
TEST_F(SettingEffect, SLOW) {
  tree_.Write(
      "slow.xml",
      ToXml(topology::ParseSynthetic("(numa: (switch: 1 gpu a100-sxm4, 1 nic 1g))").value()));
  const auto process_of = [&](std::uint32_t rank) {
    return ProcessWith({{"RINGLET_MACHINE", tree_.At("slow.xml")},
                        {"RINGLET_HOSTID", std::to_string(rank)},
                        {"RINGLET_LOCAL_RANK", "0"},
                        {"RINGLET_SLOW", "link=NET0@1:0.1"},
                        {"RINGLET_PACE", "1"}});
  };
  RunRanks(2, process_of, [](std::uint32_t, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const Instant begin = os::Now();
    EXPECT_TRUE(SumOfRanks(**formed, 100'000).ok());
    EXPECT_GE(os::Now() - begin, std::chrono::milliseconds(30)) << "0.4 MB at 12.5 MB/s";
  });
}

TEST_F(SettingEffect, TOPO_DUMP_FILE) {
  OfRankZero(1, {{"NCCL_TOPO_DUMP_FILE", tree_.At("topo.xml")}}, Links);
  EXPECT_THAT(Content(tree_.At("topo.xml")), HasSubstr("<system"));
}

TEST_F(SettingEffect, TOPO_DUMP_FILE_RANK) {
  const EnvMap environment = {{"NCCL_TOPO_DUMP_FILE", tree_.At("topo.xml")},
                              {"NCCL_TOPO_DUMP_FILE_RANK", "1"}};
  OfRankZero(1, environment, Links);
  EXPECT_EQ(Content(tree_.At("topo.xml")), "");
  OfRankZero(2, environment, Links);
  EXPECT_THAT(Content(tree_.At("topo.xml")), HasSubstr("<system"));
}

TEST_F(SettingEffect, GRAPH_DUMP_FILE) {
  OfRankZero(2, {{"NCCL_GRAPH_DUMP_FILE", tree_.At("graph.xml")}}, Links);
  EXPECT_THAT(Content(tree_.At("graph.xml")), HasSubstr("<graph"));
}

TEST_F(SettingEffect, GRAPH_DUMP_FILE_RANK) {
  const EnvMap environment = {{"NCCL_GRAPH_DUMP_FILE", tree_.At("graph.xml")},
                              {"NCCL_GRAPH_DUMP_FILE_RANK", "1"}};
  OfRankZero(1, environment, Links);
  EXPECT_EQ(Content(tree_.At("graph.xml")), "");
  OfRankZero(2, environment, Links);
  EXPECT_THAT(Content(tree_.At("graph.xml")), HasSubstr("<graph"));
}

TEST_F(SettingEffect, GRAPH_FILE) {
  const Ask ring = [](Communicator& communicator) {
    std::string text;
    for (const Rank rank : communicator.plan().Ring(0)) text += std::to_string(Index(rank));
    return text;
  };
  EXPECT_EQ(OfRankZero(3, {{"NCCL_GRAPH_DUMP_FILE", tree_.At("graph.xml")}}, ring), "012");
  std::string graph = Content(tree_.At("graph.xml"));
  graph =
      std::regex_replace(graph, std::regex(R"((<gpu .*rank="1"/>)\s*(<gpu .*rank="2"/>))"), "$2$1");
  tree_.Write("graph.xml", graph);
  EXPECT_EQ(OfRankZero(3, {{"NCCL_GRAPH_FILE", tree_.At("graph.xml")}}, ring), "021");
}

TEST_F(SettingEffect, MIN_NCHANNELS) {
  EXPECT_EQ(OfRankZero(2, {{"NCCL_MIN_NCHANNELS", "3"}}, Channels), "3");
}
TEST_F(SettingEffect, MIN_NRINGS) {
  EXPECT_EQ(OfRankZero(2, {{"NCCL_MIN_NRINGS", "3"}}, Channels), "3");
}
TEST_F(SettingEffect, MIN_CTAS) {
  EXPECT_EQ(OfRankZero(2, {{"NCCL_MIN_CTAS", "3"}}, Channels), "3");
}

TEST_F(SettingEffect, MULTI_RANK_GPU_ENABLE) {
  const auto error_with = [](const char* enable) {
    const auto process = ProcessWith({{"NCCL_MULTI_RANK_GPU_ENABLE", enable}});
    std::string text;
    RunRanks(
        2, [&](std::uint32_t) { return process; },
        [&](std::uint32_t rank, Formed formed) {
          if (rank == 0) text = ErrorText(formed);
        },
        {.device = 0, .names_device = true});
    return text;
  };
  EXPECT_THAT(error_with("0"), HasSubstr("RINGLET_MULTI_RANK_GPU_ENABLE"));
  EXPECT_EQ(error_with("1"), "no error");
}

// ---- log ----------------------------------------------------------------------------------------

std::string LogWith(os::TempTree& tree, EnvMap environment) {
  environment["RINGLET_DEBUG_FILE"] = tree.At("log");
  EXPECT_TRUE(Process::Start(environment).ok());
  OfRankZero(1, environment, Links);
  const std::string text = Content(tree.At("log"));
  std::filesystem::remove(tree.At("log"));
  return text;
}

TEST_F(SettingEffect, DEBUG_FILE) {
  EXPECT_THAT(LogWith(tree_, {{"RINGLET_DEBUG", "INFO"}}), HasSubstr("INFO"));
}
TEST_F(SettingEffect, DEBUG) {
  EXPECT_THAT(LogWith(tree_, {{"RINGLET_DEBUG", "INFO"}}), HasSubstr("INFO"));
  EXPECT_THAT(LogWith(tree_, {{"RINGLET_DEBUG", "WARN"}}), Not(HasSubstr("INFO")));
}
TEST_F(SettingEffect, DEBUG_SUBSYS) {
  const EnvMap environment = {{"RINGLET_DEBUG", "INFO"}, {"NCCL_BUFFSIZE", "1"}};
  EXPECT_THAT(LogWith(tree_, environment), HasSubstr("NCCL_BUFFSIZE"));
  EnvMap only_net = environment;
  only_net["NCCL_DEBUG_SUBSYS"] = "NET";
  EXPECT_THAT(LogWith(tree_, only_net), Not(HasSubstr("NCCL_BUFFSIZE")));
}

TEST_F(SettingEffect, STATUS) {
  const auto process = ProcessWith({{"RINGLET_STATUS", "0"}});
  const auto listens = [](const Process& one) {
    const auto names = os::AbstractNames(one.files()).value();
    return std::ranges::count(names,
                              watch::Server::NameOf(one.host().pid, one.facts().process_hash));
  };
  EXPECT_EQ(listens(*process), 0);
  EXPECT_EQ(listens(*ProcessWith({})), 1);
}
// comm/process/parts/ras_port_test.cpp tests the report itself.
std::string RasPortWith(EnvMap environment) {
  const Address at = os::Listen(Address::Ipv4(127, 0, 0, 1, 0)).value().address;
  environment["NCCL_RAS_ADDR"] = ToString(at);
  return OfRankZero(1, environment,
                    [&](Communicator&) { return os::Listen(at).ok() ? "free" : "taken"; });
}
TEST_F(SettingEffect, RAS_ADDR) {
  EXPECT_EQ(RasPortWith({}), "taken");
}
TEST_F(SettingEffect, RAS_ENABLE) {
  EXPECT_EQ(RasPortWith({{"NCCL_RAS_ENABLE", "0"}}), "free");
  EXPECT_EQ(RasPortWith({{"NCCL_RAS_ENABLE", "1"}}), "taken");
}
TEST_F(SettingEffect, DUMP_DIR) {
  std::string name;
  RunRanks(2, {{"RINGLET_DUMP_DIR", tree_.root()}}, [&](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank == 0) name = fmt::format("{:016x}-0.json", (*formed)->identity().magic);
    EXPECT_FALSE(SumOfRanks(**formed, 1 + rank).ok());
  });
  EXPECT_THAT(Content(tree_.At(name)), HasSubstr("\"state\":\"failed\""));
}
TEST_F(SettingEffect, DUMP_SIGNAL) {
  const EnvMap settings = {{"RINGLET_DUMP_DIR", tree_.root()}, {"RINGLET_DUMP_SIGNAL", "SIGUSR2"}};
  RunRanks(2, settings, [&](std::uint32_t rank, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    EXPECT_TRUE(SumOfRanks(**formed, 1).ok());
    if (rank != 0) return;
    const std::string file = tree_.At(fmt::format("{:016x}-0.json", (*formed)->identity().magic));
    std::raise(SIGUSR2);
    const Instant give_up = os::Now() + std::chrono::seconds(60);
    while (Content(file).empty() && os::Now() < give_up) std::this_thread::yield();
    EXPECT_THAT(Content(file), AllOf(HasSubstr("\"reason\": \"signal\""), HasSubstr("all_reduce")));
  });
}
// comm/plugin/profiler_test.cpp tests its events.
TEST_F(SettingEffect, PROFILER_PLUGIN) {
  const std::string plugin = RINGLET_TEST_PLUGINS "libnccl-profiler-six.so";
  RunRanks(2, {{"NCCL_PROFILER_PLUGIN", plugin}}, [&](std::uint32_t, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    EXPECT_TRUE(SumOfRanks(**formed, 1).ok());
  });
  const auto library = os::SharedLibrary::Open(plugin, os::SharedLibrary::Unloading::kForEver);
  ASSERT_TRUE(library.ok()) << library.error().message;
  EXPECT_THAT(library->Find<const char*()>("plugin_lines")(),
              HasSubstr("init rank 0 of 2 on 1 named -"));
}
// comm/plugin/tuner_test.cpp tests its answers.
TEST_F(SettingEffect, TUNER_PLUGIN) {
  const std::string plugin = RINGLET_TEST_PLUGINS "libnccl-tuner-six.so";
  const EnvMap settings = {{"NCCL_TUNER_PLUGIN", plugin}, {"RINGLET_LINKS", "tcp"}};
  RunRanks(2, settings, [&](std::uint32_t, Formed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    EXPECT_TRUE(SumOfRanks(**formed, 1).ok());
  });
  const auto library = os::SharedLibrary::Open(plugin, os::SharedLibrary::Unloading::kForEver);
  ASSERT_TRUE(library.ok()) << library.error().message;
  EXPECT_THAT(library->Find<const char*()>("plugin_lines")(), HasSubstr("function 4 of 4,"));
}
TEST_F(SettingEffect, METRICS_FILE) {
  OfRankZero(2, {{"RINGLET_METRICS_FILE", tree_.At("metrics")}}, Links);
  EXPECT_THAT(Content(tree_.At("metrics")), HasSubstr("call=\"all_reduce\""));
}
TEST_F(SettingEffect, METRICS_INTERVAL) {
  const auto process = ProcessWith(
      {{"RINGLET_METRICS_FILE", tree_.At("metrics")}, {"RINGLET_METRICS_INTERVAL", "0.1"}});
  const Instant give_up = os::Now() + std::chrono::seconds(60);
  while (Content(tree_.At("metrics")).empty() && os::Now() < give_up) std::this_thread::yield();
  EXPECT_THAT(Content(tree_.At("metrics")), HasSubstr("# EOF"));
}

// ---- launch -------------------------------------------------------------------------------------

TEST_F(SettingEffect, UNIQUE_ID) {
  const auto maker = ProcessWith({});
  const UniqueId id = CreateUniqueId(maker).value();
  const auto process = ProcessWith({{"RINGLET_UNIQUE_ID", rendezvous::ToText(id)}});
  EXPECT_EQ(NextUniqueId(process).value(), id);
  EXPECT_NE(NextUniqueId(process).value(), id) << "once in each process";
}

TEST_F(SettingEffect, RANK) {
  EXPECT_FALSE(Process::Start({{"RINGLET_RANK", "4"}, {"RINGLET_WORLD_SIZE", "4"}}).ok());
  EXPECT_EQ(ProcessWith({{"RINGLET_RANK", "3"}})->settings().rank, 3u);
}
TEST_F(SettingEffect, WORLD_SIZE) {
  EXPECT_TRUE(Process::Start({{"RINGLET_RANK", "4"}, {"RINGLET_WORLD_SIZE", "5"}}).ok());
  EXPECT_FALSE(Process::Start({{"RINGLET_RANK", "5"}, {"RINGLET_WORLD_SIZE", "5"}}).ok());
}
TEST_F(SettingEffect, LOCAL_RANK) {
  const auto numa = [](const char* rank) {
    const auto process = ProcessWith({{"RINGLET_LOCAL_RANK", rank},
                                      {"NCCL_IGNORE_CPU_AFFINITY", "1"},
                                      {"NCCL_TOPO_FILE", kMachine}});
    return DiscoverLocal(*process, {.size = 1})->numa;
  };
  EXPECT_NE(numa("0"), numa("1")) << "ranks take the NUMA nodes in turn";
}

TEST(Settings, EachSettingHasATestOfItsEffect) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::set<std::string_view> tested;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    if (!std::string_view(suite.name()).ends_with("SettingEffect")) continue;
    for (int j = 0; j < suite.total_test_count(); ++j) tested.insert(suite.GetTestInfo(j)->name());
  }
  for (const SettingSpec& spec : kSettings)
    EXPECT_TRUE(tested.contains(spec.name)) << spec.name << " has no test of its effect";
}

}  // namespace
}  // namespace ringlet::comm
