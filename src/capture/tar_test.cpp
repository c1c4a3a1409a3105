#include "capture/tar.hpp"

#include <gtest/gtest.h>

// test/integration/topo_gather_test.py tests that tar and Python read these archives.

namespace ringlet::discovery {
namespace {

constexpr std::size_t kBlock = 512;

TEST(TarTest, WritesAFileAsAHeaderAndBlocksOfContent) {
  const std::string tar = ToTar({{TarEntry::Kind::kFile, "sys/a", "hello"}});
  ASSERT_EQ(tar.size(), 4 * kBlock);
  EXPECT_EQ(tar.substr(0, 6), std::string("sys/a\0", 6));
  EXPECT_EQ(tar.substr(100, 8), std::string("0000644\0", 8));
  EXPECT_EQ(tar.substr(108, 16), std::string("0000000\0"
                                             "0000000\0",
                                             16))
      << "nobody's";
  EXPECT_EQ(tar.substr(124, 12), std::string("00000000005\0", 12));
  EXPECT_EQ(tar[156], '0');
  EXPECT_EQ(tar.substr(257, 8), std::string("ustar\00000", 8));
  EXPECT_EQ(tar.substr(kBlock, 6), std::string("hello\0", 6));
  EXPECT_EQ(tar.substr(2 * kBlock), std::string(2 * kBlock, '\0'));
}

TEST(TarTest, TheChecksumCountsItsOwnFieldAsBlanks) {
  std::string header = ToTar({{TarEntry::Kind::kFolder, "sys", ""}}).substr(0, kBlock);
  const std::string told = header.substr(148, 6);
  EXPECT_EQ(header.substr(154, 2), std::string("\0 ", 2));
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  EXPECT_EQ(std::stoul(told, nullptr, 8), sum);
}

TEST(TarTest, WritesFoldersAndLinksAsAHeaderAlone) {
  const std::string tar =
      ToTar({{TarEntry::Kind::kFolder, "sys", ""}, {TarEntry::Kind::kLink, "sys/l", "../x"}});
  ASSERT_EQ(tar.size(), 4 * kBlock);
  EXPECT_EQ(tar.substr(0, 5), std::string("sys/\0", 5));
  EXPECT_EQ(tar.substr(100, 8), std::string("0000755\0", 8));
  EXPECT_EQ(tar[156], '5');
  EXPECT_EQ(tar.substr(kBlock + 100, 8), std::string("0000644\0", 8));
  EXPECT_EQ(tar[kBlock + 156], '2');
  EXPECT_EQ(tar.substr(kBlock + 157, 5), std::string("../x\0", 5));
}

TEST(TarTest, LongNamesPrecedeTheirEntryInARecord) {
  const std::string name(150, 'n'), target(600, 't');
  const std::string tar = ToTar({{TarEntry::Kind::kLink, name, target}});
  // Link: header and two blocks; name: header and one block; the entry; the end.
  ASSERT_EQ(tar.size(), (3 + 2 + 1 + 2) * kBlock);
  EXPECT_EQ(tar[156], 'K');
  EXPECT_EQ(tar.substr(kBlock, 601), target + '\0');
  EXPECT_EQ(tar[3 * kBlock + 156], 'L');
  EXPECT_EQ(tar.substr(4 * kBlock, 151), name + '\0');
  EXPECT_EQ(tar[5 * kBlock + 156], '2');
}

}  // namespace
}  // namespace ringlet::discovery
