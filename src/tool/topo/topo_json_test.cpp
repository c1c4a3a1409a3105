#include "tool/topo/topo_json.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"
#include "topo/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

nlohmann::json Synthetic(const std::string& words) {
  return nlohmann::json::parse(ViewJson(topology::ParseSynthetic(words).value()));
}

TEST(TopoJsonTest, EachPartNamesItsParent) {
  const nlohmann::json view = Synthetic("2x(numa: 1x(switch: 2 gpu, 1 nic))");
  EXPECT_EQ(view.at("numa_nodes").size(), 2u);
  EXPECT_EQ(view.at("gpus").size(), 4u);
  EXPECT_EQ(view.at("nets").size(), 2u);
  const nlohmann::json& first = view.at("pci").at(0);
  EXPECT_EQ(first.at("below"), view.at("numa_nodes").at(0).at("name"));
  for (const nlohmann::json& device : view.at("pci"))
    if (device.at("role") == "GPU") {
      EXPECT_THAT(device.at("below").get<std::string>(), testing::HasSubstr(":"));
    }
}

TEST(TopoJsonTest, LinksHaveKindCountAndBandwidth) {
  const ToolRun ran =
      RunCommand({"topo", "show", "--json", Fixture("topologies/amd/topo_8p_942.topo.xml")});
  ASSERT_EQ(ran.status, kExitDone) << ran.errors;
  const nlohmann::json gpu = nlohmann::json::parse(ran.output).at("gpus").at(0);
  EXPECT_EQ(gpu.at("architecture"), "gfx942");
  EXPECT_EQ(gpu.at("links").at(0).at("kind"), "xGMI");
  EXPECT_EQ(gpu.at("links").at(0).at("mb_per_s"), 48'000);
}

TEST(TopoJsonTest, NamesOutsideUtf8GiveValidJson) {
  topology::HostView view = topology::ParseSynthetic("(numa: nic)").value();
  view.nets.at(0).name = "\xff";
  EXPECT_TRUE(nlohmann::json::accept(ViewJson(view)));
}

}  // namespace
}  // namespace ringlet::cli
