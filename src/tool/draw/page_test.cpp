#include "tool/draw/page.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/draw/topo_layout.hpp"
#include "tool/tool_run_for_test.hpp"
#include "tool/topo/topo_path.hpp"
#include "tool/topo/topo_paths.hpp"

namespace ringlet::cli {
namespace {

using PageData = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

PathView ViewFor(const std::string& file) {
  PathRequest request;
  request.source.file = Fixture(file);
  return FindPathView(request, {}).value();
}

std::string PageFor(const PathView& view, std::vector<PageFinding> findings = {}) {
  const Drawing drawing = LayOut(*view.graph, "one");
  const PageMachine machine{
      .title = "one", .drawing = drawing, .paths = view.paths, .findings = std::move(findings)};
  return PageOf("a <b> page", {&machine, 1});
}

PageData DataOf(const std::string& page) {
  constexpr std::string_view kBegin = "id=\"data\">";
  const std::size_t begin = page.find(kBegin) + kBegin.size();
  return PageData::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(PageTest, ThePageLoadsNothingFromTheNetwork) {
  const std::string page = PageFor(ViewFor("topo-vectors/pcie4-1nic.xml"));
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, testing::EndsWith("</html>\n"));
  EXPECT_THAT(page, HasSubstr("<title>a &lt;b&gt; page</title>"));
  EXPECT_THAT(page, Not(HasSubstr("<!--"))) << "all places are filled";
  for (const char* outside :
       {"src=", "href=", "@import", "url(", "fetch(", "http://", "https://"}) {
    std::string rest = page;
    const std::string name_space = "xmlns=\"http://www.w3.org/2000/svg\"";
    for (std::size_t at; (at = rest.find(name_space)) != std::string::npos;)
      rest.erase(at, name_space.size());
    EXPECT_THAT(rest, Not(HasSubstr(outside)));
  }
}

TEST(PageTest, APictureFitsTheWindow) {
  const PathView view = ViewFor("topo-vectors/pcie4-1nic.xml");
  Drawing drawing = LayOut(*view.graph, "one");
  drawing.width = 2200;
  const PageMachine machine{.title = "one", .drawing = drawing, .paths = view.paths};
  const std::string page = PageOf("p", {&machine, 1});
  EXPECT_THAT(page, HasSubstr("<section class=\"machine\" style=\"--width: 2200px\">"));
  EXPECT_THAT(page, HasSubstr("width: min(100%, var(--width))"));
}

TEST(PageTest, PathsMatchTheToolAndPassItsNodes) {
  const PathView view = ViewFor("topo-vectors/pcie4-1nic.xml");
  const PageData machine = DataOf(PageFor(view))["machines"][0];
  const auto& gpus = view.paths.Of(topology::NodeKind::kGpu);
  ASSERT_EQ(machine["ends"].size(), gpus.size() + view.paths.Of(topology::NodeKind::kNet).size());
  EXPECT_EQ(machine["ends"][1]["label"], "GPU1");
  EXPECT_TRUE(machine["paths"][0][0].is_null());
  const PageData& path = machine["paths"][0][1];
  EXPECT_EQ(path["text"], PathText(view.paths, gpus[0], gpus[1]));
  EXPECT_EQ(path["type"], NameOf(view.paths.From(gpus[0], gpus[1]).type));
  EXPECT_EQ(path["nodes"].front(), Index(gpus[0]));
  EXPECT_EQ(path["nodes"].back(), Index(gpus[1]));
  EXPECT_THAT(path["nodes"].get<std::vector<unsigned>>(),
              testing::Contains(machine["ends"][1]["box"].get<unsigned>()));
}

TEST(PageTest, EachStepOfAPathIsALineOrWithinADevice) {
  const PathView view = ViewFor("topologies/nvidia/ucb_dgx1v.topo.xml");
  const std::string page = PageFor(view);
  for (const PageData& row : DataOf(page)["machines"][0]["paths"])
    for (const PageData& path : row) {
      if (path.is_null()) continue;
      const auto nodes = path["nodes"].get<std::vector<std::uint32_t>>();
      for (std::size_t i = 1; i < nodes.size(); ++i) {
        const auto [low, high] = std::minmax(nodes[i - 1], nodes[i]);
        const auto kind = [&](std::uint32_t node) {
          return view.graph->at(topology::NodeIndex{node}).kind;
        };
        const bool within = kind(low) == topology::NodeKind::kGpu ||
                            kind(high) == topology::NodeKind::kGpu || topology::IsPort(kind(low)) ||
                            topology::IsPort(kind(high));
        const bool sockets = kind(low) == topology::NodeKind::kCpu && kind(low) == kind(high);
        if (within) continue;
        EXPECT_THAT(page, HasSubstr(sockets ? fmt::format("data-ends=\"{} {}\"", low, low)
                                            : fmt::format("data-ends=\"{} {}\"", low, high)));
      }
    }
}

TEST(PageTest, DataCannotEndTheScript) {
  const std::string page =
      PageFor(ViewFor("topo-vectors/pcie4-1nic.xml"),
              {{.severity = topology::Severity::kError, .text = "</script><b>", .node = {}}});
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  const PageData finding = DataOf(page)["machines"][0]["findings"][0];
  EXPECT_EQ(finding["text"], "</script><b>");
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_TRUE(finding["node"].is_null());
}

TEST(PageTest, OmitsPathsAmongManyEndsWithANote) {
  PathRequest request;
  request.source.synthetic = "10x(numa: (switch: 8 gpu a100-sxm4))";
  const PageData machine = DataOf(PageFor(FindPathView(request, {}).value()))["machines"][0];
  EXPECT_TRUE(machine["paths"].empty());
  EXPECT_THAT(machine["no_paths"].get<std::string>(), HasSubstr("80 GPUs and ports"));
}

TEST(PageTest, GroupsAreTheChannelsInOrder) {
  const PathView view = ViewFor("topo-vectors/pcie4-1nic.xml");
  Drawing drawing = LayOut(*view.graph, "one");
  for (const char* group : {"ring 0", "ring 1", "tree 0"})
    drawing.lines.push_back({.points = {{0, 0}, {1, 1}}, .color = "#123456", .group = group});
  const PageMachine machine{.title = "one", .drawing = drawing, .paths = view.paths};
  const std::string page = PageOf("p", {&machine, 1});
  const PageData groups = DataOf(page)["machines"][0]["groups"];
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[2]["name"], "tree 0");
  EXPECT_EQ(groups[2]["color"], "#123456");
  EXPECT_THAT(page, HasSubstr("data-group=\"tree 0\""));
}

}  // namespace
}  // namespace ringlet::cli
