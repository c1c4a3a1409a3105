#include "tool/input/machine_choice.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include <set>

#include "tool/tool_run_for_test.hpp"
#include "topo/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

topology::HostView Described(const char* words) {
  return topology::ParseSynthetic(words).value();
}

Result<ChosenMachine> Chosen(topology::HostView view) {
  return MakeChosen(std::move(view), "mine", "/m/mine.xml");
}

void ExpectRefused(topology::HostView view, const char* part) {
  const auto chosen = Chosen(std::move(view));
  ASSERT_FALSE(chosen.ok()) << part;
  EXPECT_THAT(chosen.error().message, AllOf(HasSubstr("mine"), HasSubstr(part)));
}

TEST(MachineFolderTest, FindsTheFolderOfABuildTreeOrInstallation) {
  const auto among = [](const std::string& tool, const std::set<std::string>& files) {
    return FindMachineFolder(tool, "../share",
                             [&](const std::string& path) { return files.contains(path); });
  };
  const auto built = among("/home/me/build/bin/ringlet", {"/home/me/build/machines/README.md"});
  ASSERT_TRUE(built.ok()) << built.error().message;
  EXPECT_EQ(*built, "/home/me/build/machines");
  const auto installed = among("/usr/bin/ringlet", {"/usr/share/ringlet/machines/README.md"});
  ASSERT_TRUE(installed.ok()) << installed.error().message;
  EXPECT_EQ(*installed, "/usr/share/ringlet/machines");
  EXPECT_THAT(among("/usr/bin/ringlet", {}).error().message, HasSubstr("/usr/bin/ringlet"));
}

TEST(ChosenMachineTest, KeepsAWholeMachineUnchanged) {
  const auto chosen = Chosen(Described("2 gpu h100-sxm5 switch, nic"));
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_EQ(chosen->path, "/m/mine.xml");
  EXPECT_EQ(chosen->view, Described("2 gpu h100-sxm5 switch, nic"));
  EXPECT_THAT(chosen->notes, IsEmpty());
}

TEST(ChosenMachineTest, RefusesSeveralGpusOnOneFunction) {
  topology::HostView view = Described("2 gpu h100-sxm5 switch");
  view.gpus.insert(view.gpus.begin(), view.gpus.front());
  ExpectRefused(view, "2 <gpu> elements are on the function");
  ExpectRefused(view, "several ranks on one GPU cannot be emulated");
  view.gpus[0].mlopart = 0;
  view.gpus[1].mlopart = 1;
  ExpectRefused(view, "the logical GPUs (mlopart) of one function cannot be emulated");
}

TEST(ChosenMachineTest, NumbersGpusWithoutGaps) {
  topology::HostView view = Described("3 gpu");
  view.gpus[0].dev = 7;
  view.gpus[1].dev = 4;
  view.gpus[2].dev = 5;
  auto chosen = Chosen(view);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->view.gpus[0].dev, 2u);
  EXPECT_EQ(chosen->view.gpus[1].dev, 0u);
  EXPECT_EQ(chosen->view.gpus[2].dev, 1u);
  EXPECT_THAT(chosen->path, IsEmpty());
  EXPECT_THAT(chosen->notes, SizeIs(1));

  std::swap(view.pci[view.gpus[0].pci].bus, view.pci[view.gpus[2].pci].bus);
  view.gpus[1].dev = {};
  chosen = Chosen(view);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->view.gpus[0].dev, 2u);
  EXPECT_EQ(chosen->view.gpus[1].dev, 1u);
  EXPECT_EQ(chosen->view.gpus[2].dev, 0u);

  view.gpus[0].dev = view.gpus[1].dev = view.gpus[2].dev = 4;
  ExpectRefused(view, "dev");
}

TEST(ChosenMachineTest, TakesAMissingCapabilityFromTheModel) {
  topology::HostView view = Described("2 gpu a10g");
  view.gpus[1].compute_capability = 0;
  const auto chosen = Chosen(view);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->view.gpus[1].compute_capability, 86u);
  EXPECT_THAT(chosen->path, IsEmpty());
  view.pci[view.gpus[1].pci].ids = {};
  ExpectRefused(view, "sm=");
}

TEST(ChosenMachineTest, AcceptsOneHostWithNvidiaGpusOnly) {
  ExpectRefused(Described("2 nic"), "does not have GPUs");
  ExpectRefused(Described("2x(host: 2 gpu)"), "--hosts 2");
  ExpectRefused(Described("65 gpu"), "64");
  ExpectRefused(Described("2 gpu mi300x"), "gfx942");
}

TEST(ChosenMachineTest, CompletesASkeletonWithoutGuesses) {
  topology::HostView view = Described("2 gpu a10g, nic");
  view.gpus.clear();
  view.nics.clear();
  view.nets.clear();
  const auto chosen = Chosen(view);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_THAT(chosen->view.gpus, SizeIs(2));
  EXPECT_THAT(chosen->path, IsEmpty());
  EXPECT_THAT(chosen->notes, Contains(HasSubstr("2 GPUs were added")));
}

TEST(ChosenMachineTest, RefusesAnIncompleteSkeletonAndNamesTheRemedy) {
  const std::string folder = SourceFile("machines");
  const auto linked = ChooseMachine(Fixture("topologies/nvidia/p4d-24xl.topo.xml"), folder);
  ASSERT_FALSE(linked.ok());
  EXPECT_THAT(linked.error().message,
              AllOf(HasSubstr("does not describe the links"), HasSubstr("aws-p4d.24xlarge"),
                    HasSubstr("ringlet topo complete")));
  const auto unknown = ChooseMachine(Fixture("topologies/nvidia/ndv5.topo.xml"), folder);
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message,
              AllOf(HasSubstr("0001:00:00.0"), HasSubstr("azure-nd96isr-h100-v5")));
}

TEST(ChooseMachineTest, AcceptsANameAFileOrADescription) {
  const std::string folder = SourceFile("machines");
  const auto named = ChooseMachine("dgx-h100", folder);
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_TRUE(std::filesystem::equivalent(named->path, folder + "/dgx-h100.xml")) << named->path;
  EXPECT_THAT(named->view.gpus, SizeIs(8));
  const auto file = ChooseMachine(Fixture("topologies/nvidia/nc48v4.topo.xml"), folder);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_THAT(file->path, HasSubstr("/nc48v4.topo.xml"));
  EXPECT_THAT(file->view.gpus, SizeIs(2));
  const auto described = ChooseMachine("2x(numa: 2 gpu h100-sxm5 switch, nic 400g)", folder);
  ASSERT_TRUE(described.ok()) << described.error().message;
  EXPECT_THAT(described->path, IsEmpty());
  EXPECT_THAT(described->view.gpus, SizeIs(4));
}

TEST(ChooseMachineTest, ErrorsNameTheMistake) {
  const std::string folder = SourceFile("machines");
  EXPECT_THAT(ChooseMachine("dgx-h10", folder).error().message,
              AllOf(HasSubstr("dgx-h10;"), HasSubstr("did you mean dgx-h100?")));
  EXPECT_THAT(ChooseMachine("/nowhere/m.xml", folder).error().message, HasSubstr("/nowhere/m.xml"));
  EXPECT_THAT(ChooseMachine("2 gpu z9", folder).error().message, HasSubstr("column 6"));
  EXPECT_THAT(ChooseMachine(Fixture("topologies/graphs/3090x8_panlichen.graph.xml"), folder)
                  .error()
                  .message,
              HasSubstr("NCCL_GRAPH_FILE"));
}

TEST(ChooseMachineTest, AcceptsAFileWithErrorsAndANote) {
  const auto chosen = ChooseMachine(
      Fixture("topologies/broken/azure_ncv4_current_selfloop.topo.xml"), SourceFile("machines"));
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  EXPECT_THAT(chosen->notes, Contains(HasSubstr("ringlet topo lint")));
}

}  // namespace
}  // namespace ringlet::cli
