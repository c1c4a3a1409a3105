#include "capture/scrub.hpp"

#include <gtest/gtest.h>

namespace ringlet::discovery {
namespace {

using Kind = TarEntry::Kind;

std::string Content(const std::string& path, const std::string& content) {
  return Scrub({{Kind::kFile, path, content}})[0].content;
}

TEST(ScrubTest, AFileKeepsOnlyTheLinesThatTheScanReads) {
  EXPECT_EQ(Content("proc/cpuinfo",
                    "processor\t: 0\nCPU part\t: 0xd4f\nSerial\t\t: 10000000abcdef01\nflags : x\n"),
            "processor\t: 0\nCPU part\t: 0xd4f\n");
  EXPECT_EQ(Content("proc/meminfo", "MemTotal: 8 kB\nMemFree: 1 kB\n"), "MemTotal: 8 kB\n");
  EXPECT_EQ(Content("sys/devices/virtual/net/b/uevent", "DEVTYPE=bond\nINTERFACE=b\n"),
            "DEVTYPE=bond\n");
  EXPECT_EQ(Content("sys/x/numa_node", "-1\n"), "-1\n");
}

TEST(ScrubTest, ReplacesGuidsByNumbersAndKeepsEqualOnesEqual) {
  const std::vector<TarEntry> entries =
      Scrub({{Kind::kFile, "a/sys_image_guid", "0011:7500:0077:d5fe\n"},
             {Kind::kFile, "b/sys_image_guid", "0011:7500:0077:d5ff\n"},
             {Kind::kFile, "c/sys_image_guid", "0011:7500:0077:d5fe\n"},
             {Kind::kFile, "d/sys_image_guid", "0000:0000:0000:0000\n"}});
  EXPECT_EQ(entries[0].content, "0000:0000:0000:0001\n");
  EXPECT_EQ(entries[1].content, "0000:0000:0000:0002\n");
  EXPECT_EQ(entries[2].content, entries[0].content);
  EXPECT_EQ(entries[3].content, "0000:0000:0000:0000\n");
}

TEST(ScrubTest, ReplacesAnAddressInANameAlikeInEveryPath) {
  const std::vector<TarEntry> entries =
      Scrub({{Kind::kLink, "sys/class/net/enx001122334455", "../../devices/0/net/enx001122334455"},
             {Kind::kFile, "sys/devices/0/net/enx001122334455/speed", "10\n"},
             {Kind::kFolder, "sys/devices/virtual/net/b/lower_enx001122334455", ""},
             {Kind::kFile, "sys/p/gid_attrs/ndevs/0", "enx001122334455"},
             {Kind::kFolder, "sys/class/infiniband/rocex99aabbccddeeff00", ""},
             {Kind::kFolder, "sys/class/net/enp24s0f0", ""}});
  EXPECT_EQ(entries[0].path, "sys/class/net/enx000000000001");
  EXPECT_EQ(entries[0].content, "../../devices/0/net/enx000000000001");
  EXPECT_EQ(entries[1].path, "sys/devices/0/net/enx000000000001/speed");
  EXPECT_EQ(entries[2].path, "sys/devices/virtual/net/b/lower_enx000000000001");
  EXPECT_EQ(entries[3].content, "enx000000000001");
  EXPECT_EQ(entries[4].path, "sys/class/infiniband/rocex000000000002");
  EXPECT_EQ(entries[5].path, "sys/class/net/enp24s0f0");
}

TEST(ScrubTest, ReplacesUuidsInPathsAndTargets) {
  const std::vector<TarEntry> entries =
      Scrub({{Kind::kFolder, "sys/devices/VMBUS:00/000d3a6b-2a43-000d-3a6b-2a43000d3a6b/net", ""},
             {Kind::kLink, "/l", "/a/000d3a6b-2a43-000d-3a6b-2a43000d3a6b"}});
  EXPECT_EQ(entries[0].path, "sys/devices/VMBUS:00/00000000-0000-0000-0000-000000000001/net");
  EXPECT_EQ(entries[1].path, "/l");
  EXPECT_EQ(entries[1].content, "/a/00000000-0000-0000-0000-000000000001");
}

TEST(ScrubTest, KeepsTextsThatOnlyResembleAddresses) {
  for (const char* path :
       {"sys/enx00112233445", "sys/001122334455", "sys/vx1", "sys/enp001122334455",
        "sys/000d3a6b_2a43-000d-3a6b-2a43000d3a6b", "sys/000d3a6b-2a43-000d-3a6b-2a43000d3a6",
        "sys/000d3a6b-2a43-000d-3a6b-2a43000d3a6g"})
    EXPECT_EQ(Scrub({{Kind::kFolder, path, ""}})[0].path, path);
  EXPECT_EQ(Scrub({{Kind::kFolder, "enxAABBCCDDEEFF", ""}})[0].path, "enx000000000001");
}

TEST(ScrubTest, ReplacesAUuidInsideAName) {
  EXPECT_EQ(Scrub({{Kind::kFolder, "a-000d3a6b-2a43-000d-3a6b-2a43000D3A6b.x", ""}})[0].path,
            "a-00000000-0000-0000-0000-000000000001.x");
}

}  // namespace
}  // namespace ringlet::discovery
