#include "ringlet/unique_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cxx/ranks_for_test.hpp"

namespace ringlet::cxx {
namespace {

using testing::HasSubstr;

UniqueId NewId() {
  const Result<UniqueId> id = UniqueId::Create(Quiet().environment);
  EXPECT_TRUE(id.ok()) << Said(id);
  return *id;
}

TEST(UniqueIdOfCxx, IsUnique) {
  EXPECT_NE(NewId(), NewId());
}

TEST(UniqueIdOfCxx, RoundTripsThroughTextAndBytes) {
  const UniqueId id = NewId();
  const Result<UniqueId> from_text = UniqueId::FromText(id.ToText());
  ASSERT_TRUE(from_text.ok()) << Said(from_text);
  EXPECT_EQ(*from_text, id);
  const Result<UniqueId> from_bytes = UniqueId::FromBytes(id.bytes.data(), id.bytes.size());
  ASSERT_TRUE(from_bytes.ok()) << Said(from_bytes);
  EXPECT_EQ(*from_bytes, id);
}

TEST(UniqueIdOfCxx, RefusesMalformedIds) {
  EXPECT_THAT(Said(UniqueId::FromText("ringlet1:12")), HasSubstr("256"));
  const UniqueId id;
  EXPECT_THAT(Said(UniqueId::FromBytes(id.bytes.data(), 127)), HasSubstr("128 bytes, not 127"));
  EXPECT_THAT(Said(UniqueId::FromBytes(nullptr, 128)), HasSubstr("null"));
}

TEST(UniqueIdOfCxx, NamesAWrongSetting) {
  EXPECT_THAT(Said(UniqueId::Create({{"RINGLET_TIMEOUT", "soon"}})), HasSubstr("RINGLET_TIMEOUT"));
}

}  // namespace
}  // namespace ringlet::cxx
