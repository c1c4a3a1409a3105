#include "transport/link/pipe.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <thread>

#include "base/value/prng.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::transport {
namespace {

struct PipeRig {
  explicit PipeRig(std::size_t ring_bytes)
      : memory(PipeFootprint(ring_bytes) / sizeof(Chunk)),
        place(PipePlace::At(std::as_writable_bytes(std::span(memory)), ring_bytes)) {}

  struct alignas(64) Chunk {
    std::byte bytes[64] = {};
  };
  std::vector<Chunk> memory;
  PipePlace place;
  DoorbellWord reader_word, writer_word;
  os::Fd event{::eventfd(0, EFD_NONBLOCK)};
  PipeWriter writer{place, DoorbellButton(reader_word, event.get())};
  PipeReader reader{place, DoorbellButton(writer_word, event.get())};
};

Bytes Pattern(std::uint64_t seed, std::size_t bytes) {
  Prng prng(seed);
  Bytes out(bytes);
  for (std::byte& b : out) b = static_cast<std::byte>(prng.Next());
  return out;
}

std::size_t Written(PipeWriter& writer, View data) {
  return writer.Write(data).value();
}

TEST(Pipe, ReadsTheWrittenBytes) {
  PipeRig rig(64);
  const Bytes data = Pattern(1, 40);
  EXPECT_EQ(Written(rig.writer, data), 40u);
  Bytes out(100);
  EXPECT_EQ(rig.reader.Read(out).value(), 40u);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), out.begin()));
  EXPECT_EQ(rig.reader.Read(out).value(), 0u);
}

// The last few bytes are read from beside the counter. The ring contains them too, for a reader
// that is late or reads less.
TEST(Pipe, SmallMessagesAreReadFromBesideTheCount) {
  PipeRig rig(256);
  const Bytes data = Pattern(1, kPipeRecentBytes);
  Bytes out(kPipeRecentBytes);
  for (const std::size_t at : {std::size_t{0}, data.size()}) {
    ASSERT_EQ(Written(rig.writer, data), data.size());
    rig.place.ring[at + 3] ^= std::byte{1};
    EXPECT_EQ(rig.reader.Read(out).value(), data.size());
    EXPECT_EQ(out, data) << "of the message at " << at;
  }
  for (const bool changes : {false, true}) {
    ASSERT_EQ(Written(rig.writer, data), data.size());
    if (changes) rig.place.header->recent_end.store(0);
    for (auto& word : rig.place.header->recent) word.store(0);
    const std::size_t first = changes ? data.size() : 7;
    EXPECT_EQ(rig.reader.Read(std::span(out).first(first)).value(), first);
    const std::span<std::byte> rest = std::span(out).subspan(first);
    EXPECT_EQ(rig.reader.Read(rest).value(), rest.size());
    EXPECT_EQ(out, data);
  }
}

// Tries all sizes that fit, and all positions of the end of the ring. The reader never sees part of
// the head if the head and the data behind it fit.
TEST(Pipe, WritesAHeaderAndItsDataTogether) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    PipeRig rig(256);
    Prng prng(seed);
    for (std::uint64_t i = 0; i < 50; ++i) {
      const Bytes head = Pattern(seed * 100 + i, 1 + prng.Below(50));
      const Bytes data = Pattern(seed * 200 + i, prng.Below(400));
      Bytes expected = head, got;
      expected.insert(expected.end(), data.begin(), data.end());
      std::size_t written = rig.writer.Write(head, data).value();
      EXPECT_EQ(written, std::min<std::size_t>(expected.size(), 256));
      Bytes out(prng.Below(2) == 0 ? 7 : 300);
      while (got.size() < expected.size()) {
        const std::size_t read = rig.reader.Read(out).value();
        ASSERT_TRUE(read > 0 || written < expected.size()) << "seed " << seed;
        got.insert(got.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(read));
        const std::size_t of_head = std::min(written, head.size());
        written +=
            rig.writer.Write(View(head).subspan(of_head), View(data).subspan(written - of_head))
                .value();
      }
      ASSERT_EQ(got, expected) << "seed " << seed;
    }
  }
}

// The writer and the reader each choose at random between whole messages and pieces. Neither
// notices what the other has chosen.
TEST(Pipe, WholeMessagesAndPiecesMix) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    PipeRig rig(256);
    Prng prng(seed);
    int whole_in = 0, whole_out = 0;
    for (int message = 0; message < 40; ++message) {
      const Bytes head = Pattern(prng.Next(), 32), data = Pattern(prng.Next(), prng.Below(100));
      if (prng.Below(2) == 0 && rig.writer.WriteWhole(head, data)) {
        ++whole_in;
      } else {
        ASSERT_EQ(rig.writer.Write(head, data).value(), head.size() + data.size());
      }
      Bytes other = head, out(data.size()), front(head.size());
      other.back() ^= std::byte{1};
      ASSERT_EQ(rig.reader.ReadWhole(other, out), WholeRead::kOther)
          << "another message is there, seed " << seed;
      Bytes more(data.size() + 1);
      ASSERT_EQ(rig.reader.ReadWhole(head, more), WholeRead::kOther)
          << "a byte is missing, seed " << seed;
      if (prng.Below(2) == 0 && rig.reader.ReadWhole(head, out) == WholeRead::kDone) {
        ++whole_out;
      } else {
        ASSERT_EQ(rig.reader.Read(front).value(), front.size());
        ASSERT_EQ(front, head) << "seed " << seed;
        ASSERT_EQ(rig.reader.Read(out).value(), out.size());
      }
      ASSERT_EQ(out, data) << "seed " << seed;
    }
    EXPECT_GT(whole_in, 0);
    EXPECT_GT(whole_out, 0);
  }
}

TEST(Pipe, AWholeMessageIsWrittenOnlyIfItFitsInOnePiece) {
  PipeRig rig(256);
  const Bytes head = Pattern(1, 32), data = Pattern(2, 64);
  Bytes out(64);
  EXPECT_TRUE(rig.writer.WriteWhole(head, data));
  EXPECT_TRUE(rig.writer.WriteWhole(head, data));
  EXPECT_FALSE(rig.writer.WriteWhole(head, data)) << "64 bytes are free";
  for (int message = 0; message < 2; ++message) {
    EXPECT_EQ(rig.reader.ReadWhole(head, out), WholeRead::kDone);
    EXPECT_EQ(out, data);
  }
  EXPECT_EQ(rig.reader.ReadWhole(head, out), WholeRead::kNothing) << "nothing was written";
  EXPECT_FALSE(rig.writer.WriteWhole(head, data)) << "64 bytes are left before the end of the ring";
  EXPECT_TRUE(rig.writer.WriteWhole(head, View(data).first(32))) << "they suffice";
  EXPECT_EQ(rig.reader.ReadWhole(head, std::span(out).first(32)), WholeRead::kDone);
}

TEST(Pipe, AcceptsOnlyTheBytesThatFit) {
  PipeRig rig(64);
  EXPECT_EQ(Written(rig.writer, Pattern(1, 100)), 64u);
  EXPECT_EQ(Written(rig.writer, Pattern(1, 1)), 0u);
  EXPECT_EQ(Written(rig.writer, {}), 0u);
  Bytes out(10);
  EXPECT_EQ(rig.reader.Read(out).value(), 10u);
  EXPECT_EQ(Written(rig.writer, Pattern(1, 100)), 10u);
}

TEST(Pipe, PeekReturnsBytesUpToTheEndOfTheRing) {
  PipeRig rig(64);
  ASSERT_EQ(Written(rig.writer, Pattern(1, 50)), 50u);
  EXPECT_EQ(rig.reader.Peek()->size(), 50u);
  rig.reader.Consume(50);
  const Bytes data = Pattern(2, 40);
  ASSERT_EQ(Written(rig.writer, data), 40u);
  ASSERT_EQ(rig.reader.Peek()->size(), 14u);
  rig.reader.Consume(14);
  const View rest = rig.reader.Peek().value();
  ASSERT_EQ(rest.size(), 26u);
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), data.begin() + 14));
}

TEST(Pipe, PeekIncludesLaterBytes) {
  PipeRig rig(64);
  ASSERT_EQ(Written(rig.writer, Pattern(1, 3)), 3u);
  EXPECT_EQ(rig.reader.Peek()->size(), 3u);
  ASSERT_EQ(Written(rig.writer, Pattern(1, 5)), 5u);
  EXPECT_EQ(rig.reader.Peek()->size(), 8u);
}

TEST(Pipe, RingsTheReaderForDataAndTheWriterForRequestedRoom) {
  PipeRig rig(64);
  Doorbell reader(rig.reader_word), writer(rig.writer_word);
  const auto reading = reader.Arm();
  ASSERT_EQ(Written(rig.writer, Pattern(1, 64)), 64u);
  EXPECT_TRUE(reader.Rung(reading));

  Bytes out(15);
  const auto idle = writer.Arm();
  ASSERT_EQ(rig.reader.Read(std::span(out).first(1)).value(), 1u);
  EXPECT_FALSE(writer.Rung(idle)) << "the writer wants nothing";

  ASSERT_EQ(Written(rig.writer, Pattern(1, 30)), 1u);
  const auto wanting = writer.Arm();
  ASSERT_EQ(rig.reader.Read(out).value(), 15u);
  EXPECT_FALSE(writer.Rung(wanting)) << "less than a quarter is free";
  ASSERT_EQ(rig.reader.Read(std::span(out).first(1)).value(), 1u);
  EXPECT_TRUE(writer.Rung(wanting));
}

TEST(Pipe, RingsTheWriterAtOnceForASmallRequest) {
  PipeRig rig(64);
  Doorbell writer(rig.writer_word);
  ASSERT_EQ(Written(rig.writer, Pattern(1, 66)), 64u);
  const auto wanting = writer.Arm();
  Bytes out(2);
  ASSERT_EQ(rig.reader.Read(out).value(), 2u);
  EXPECT_TRUE(writer.Rung(wanting));
}

TEST(Pipe, ClosingNotifiesTheOtherSide) {
  PipeRig rig(64);
  Doorbell reader(rig.reader_word), writer(rig.writer_word);
  const auto reading = reader.Arm();
  const auto writing = writer.Arm();
  EXPECT_FALSE(rig.reader.writer_closed() || rig.writer.reader_closed());
  rig.writer.Close();
  rig.reader.Close();
  EXPECT_TRUE(rig.reader.writer_closed() && rig.writer.reader_closed());
  EXPECT_TRUE(reader.Rung(reading) && writer.Rung(writing));
}

TEST(Pipe, ImpossibleCountsAreRefused) {
  for (const std::uint64_t nonsense : {std::uint64_t{65}, ~std::uint64_t{0}}) {
    PipeRig rig(64);
    rig.place.header->written_bytes.store(nonsense);
    Bytes out(64);
    EXPECT_EQ(rig.reader.ReadWhole({}, out), WholeRead::kOther);
    EXPECT_EQ(rig.reader.Read(out).error().code, Code::kProtocol);
    EXPECT_EQ(rig.reader.Peek().error().code, Code::kProtocol);
  }
  PipeRig rig(64);
  ASSERT_EQ(Written(rig.writer, Pattern(1, 64)), 64u);
  rig.place.header->read_bytes.store(65);
  EXPECT_EQ(rig.writer.Write(Pattern(1, 1)).error().code, Code::kProtocol);
}

TEST(Pipe, AcceptsOnlyPowersOfTwoAsSizes) {
  EXPECT_TRUE(IsPipeSize(64) && IsPipeSize(kPipeBytesDefault) && IsPipeSize(kPipeBytesMax));
  EXPECT_FALSE(IsPipeSize(0) || IsPipeSize(32) || IsPipeSize(96) || IsPipeSize(kPipeBytesMax * 2));
}

// One thread writes pieces of any size, with or without a head. Another reads and peeks. Both sleep
// whenever there is nothing to do.
TEST(Pipe, CarriesAStreamBetweenThreads) {
  for (const std::size_t ring_bytes : {std::size_t{64}, std::size_t{4096}}) {
    PipeRig rig(ring_bytes);
    const Bytes data = Pattern(ring_bytes, 1000 * ring_bytes);
    std::thread writing([&] {
      Doorbell bell(rig.writer_word);
      Prng prng(7);
      for (std::size_t done = 0; done < data.size();) {
        const std::size_t piece =
            std::min<std::size_t>(prng.Below(3 * ring_bytes), data.size() - done);
        const auto ticket = bell.Arm();
        const View both = View(data).subspan(done, piece);
        const std::size_t head = prng.Chance(0.5) ? prng.Below(piece + 1) : 0;
        const std::size_t n = rig.writer.Write(both.first(head), both.subspan(head)).value();
        done += n;
        if (n == 0 && piece > 0 && bell.PublishSleep(ticket, Doorbell::Sleep::kFutex))
          bell.SleepInFutex(ticket, std::chrono::seconds(30));
      }
    });
    Doorbell bell(rig.reader_word);
    Prng prng(8);
    Bytes out(3 * ring_bytes);
    std::size_t done = 0;
    bool same = true;
    while (done < data.size()) {
      const auto ticket = bell.Arm();
      View got;
      if (prng.Chance(0.5)) {
        got = rig.reader.Peek().value();
        same = same &&
               std::equal(got.begin(), got.end(), data.begin() + static_cast<std::ptrdiff_t>(done));
        rig.reader.Consume(got.size());
      } else {
        got = View(out).first(
            rig.reader.Read(std::span(out).first(1 + prng.Below(out.size()))).value());
        same = same &&
               std::equal(got.begin(), got.end(), data.begin() + static_cast<std::ptrdiff_t>(done));
      }
      done += got.size();
      if (got.empty() && bell.PublishSleep(ticket, Doorbell::Sleep::kFutex))
        bell.SleepInFutex(ticket, std::chrono::seconds(30));
    }
    writing.join();
    EXPECT_TRUE(same);
  }
}

}  // namespace
}  // namespace ringlet::transport
