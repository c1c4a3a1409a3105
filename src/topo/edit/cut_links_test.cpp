#include "topo/edit/cut_links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/edit/synthetic.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(CutNvLinks, RemovesTheLinksAtBothEnds) {
  HostView view = ParseSynthetic("4 gpu a100-sxm4 mesh").value();
  ASSERT_THAT(view.gpus[0].links, SizeIs(3));
  ASSERT_TRUE(CutNvLinks(view, 2).ok());
  EXPECT_THAT(view.gpus[2].links, IsEmpty());
  for (const std::uint32_t other : {0u, 1u, 3u}) EXPECT_THAT(view.gpus[other].links, SizeIs(2));
  EXPECT_TRUE(view.Check().ok());
}

TEST(CutNvLinks, NamesAGpuThatIsMissingOrUnlinked) {
  HostView view = ParseSynthetic("2 gpu a100-sxm4 none").value();
  EXPECT_THAT(CutNvLinks(view, 7).error().message, HasSubstr("GPU 7"));
  EXPECT_THAT(CutNvLinks(view, 1).error().message, HasSubstr("GPU 1"));
}

}  // namespace
}  // namespace ringlet::topology
