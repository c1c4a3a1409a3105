#include "discovery/sysfs.hpp"

#include <gmock/gmock.h>

#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::discovery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using topology::BusId;

TEST(SysfsTest, LinksAreResolvedByTheirText) {
  EXPECT_EQ(ResolveLink("/sys/class/net/eth0", "../../devices/pci0000:00/0000:00:03.0/net/eth0"),
            "/sys/devices/pci0000:00/0000:00:03.0/net/eth0");
  EXPECT_EQ(ResolveLink("sys/x", "/abs/./y"), "/abs/y");
  EXPECT_EQ(ResolveLink("/a/b", "../../../../c"), "/c");
  EXPECT_EQ(ResolveLink("/a", ".."), "/");
  EXPECT_EQ(ResolveLink("", ""), "/");
}

TEST(SysfsTest, FunctionsOfAPathAreFoundFromItsEnd) {
  EXPECT_THAT(FunctionsIn("/sys/devices/pci0000:17/0000:17:00.0/0000:18:00.0/net/eth0"),
              ElementsAre(BusId{0x18000}, BusId{0x17000}));
  EXPECT_THAT(FunctionsIn("/sys/devices/pci0000:00/0000:00:03.0/virtio0/net/eth0"),
              ElementsAre(BusId{0x30}));
  EXPECT_THAT(FunctionsIn("/sys/devices/virtual/net/lo"), IsEmpty());
}

TEST(SysfsTest, AHostBridgeBelowAFunctionStartsANewTree) {
  EXPECT_THAT(FunctionsIn("/sys/devices/pci0000:d5/0000:d5:00.5/pci10000:e0/10000:e0:06.0"),
              ElementsAre(BusId::Of(0x10000, 0xe0, 6, 0)));
}

TEST(SysfsTest, SmallFilesAreReadAndMissingOnesRemembered) {
  os::TempTree tree;
  tree.Write("n", " 12\n").Write("minus", "-1\n").Write("hex", "0x10de\n").Link("l", "n");
  tree.Write("large", std::string(Sysfs::kSmallFileBytesMax + 1, '1'));
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  std::vector<std::string> missing;
  Sysfs sysfs(files, missing);
  EXPECT_EQ(sysfs.Peek("/n"), "12");
  EXPECT_EQ(sysfs.Peek("/none"), std::nullopt);
  EXPECT_EQ(sysfs.Peek("/large"), std::nullopt);
  EXPECT_EQ(sysfs.PeekNumber("/n"), 12u);
  EXPECT_EQ(sysfs.PeekNumber("/minus"), std::nullopt);
  EXPECT_EQ(sysfs.PeekHex("/hex", 0xffff), 0x10deu);
  EXPECT_EQ(sysfs.PeekHex("/hex", 0x10de), 0x10deu);
  EXPECT_EQ(sysfs.PeekHex("/hex", 0x10dd), std::nullopt);
  EXPECT_EQ(sysfs.PeekHex("/n", 0xffff), std::nullopt);
  EXPECT_EQ(sysfs.Linked("/l"), "/n");
  EXPECT_EQ(sysfs.Linked("/n"), std::nullopt);
  EXPECT_EQ(sysfs.Folder("/n"), "/n");
  EXPECT_THAT(missing, IsEmpty());
  EXPECT_EQ(sysfs.Read("/none"), "");
  EXPECT_THAT(missing, ElementsAre(HasSubstr("/none")));
}

TEST(SysfsTest, TheListOfMissingFilesIsBounded) {
  os::TempTree tree;
  const os::FileTree files = os::FileTree::Open(tree.root()).value();
  std::vector<std::string> missing;
  Sysfs sysfs(files, missing);
  for (std::size_t i = 0; i < 3 * Sysfs::kMissingMax; ++i) sysfs.RecordMissing("x");
  EXPECT_THAT(missing, SizeIs(Sysfs::kMissingMax + 1));
}

}  // namespace
}  // namespace ringlet::discovery
