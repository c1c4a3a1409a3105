// The bytes written at one end of a pipe arrive at the other, and no rank sleeps through them.
#include "transport/link/pipe.hpp"

#include <array>
#include <cstring>

#include "programs_for_test.hpp"
#include "transport/arena/bell_waiter.hpp"

namespace ringlet::model {
namespace {

using transport::BellWaiter;
using transport::DoorbellButton;
using transport::DoorbellWord;
using transport::kPipeBytesMin;
using transport::PipePlace;
using transport::PipeReader;
using transport::PipeWriter;

constexpr std::size_t kPipes = 2;

struct Shared {
  DoorbellWord bells[kPipes + 1];
  alignas(64) std::byte pipes[kPipes][transport::PipeFootprint(kPipeBytesMin)];
};
Shared shared;

PipePlace Pipe(std::size_t i) {
  return PipePlace::At(shared.pipes[i], kPipeBytesMin);
}

// Returns the bytes of the stream by their number.
std::byte ByteAt(std::size_t at) {
  return static_cast<std::byte>(at * 7 + 1);
}

// Calls `advance` until `done()`, and sleeps when it returns false, for no progress.
template <class Done, class Advance>
void Drive(DoorbellWord& bell, Done done, Advance advance) {
  BellWaiter waiter(bell);
  while (!done()) {
    if (advance()) continue;
    const auto ticket = waiter.Prepare();
    if (!advance()) waiter.Wait(ticket, std::chrono::hours(1));
  }
}

std::size_t Value(Result<std::size_t> result) {
  if (!result.ok()) Fail(result.error().message);
  return *result;
}

// Writes messages of these sizes, each after this number of header bytes.
void Write(PipeWriter& out, DoorbellWord& bell, const std::vector<std::size_t>& sizes,
           std::size_t head) {
  std::size_t begin = 0;
  for (const std::size_t size : sizes) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = ByteAt(begin + i);
    std::size_t done = 0;
    Drive(
        bell, [&] { return done == size; },
        [&] {
          const View rest = View(bytes).subspan(done);
          const std::size_t first = done < head ? head - done : 0;
          const std::size_t moved = Value(out.Write(rest.first(first), rest.subspan(first)));
          done += moved;
          return moved > 0;
        });
    begin += size;
  }
}

std::size_t Take(PipeReader& in, std::span<std::byte> out, bool peeks) {
  if (!peeks) return Value(in.Read(out));
  const auto view = in.Peek();
  if (!view.ok()) Fail(view.error().message);
  const std::size_t bytes = std::min(view->size(), out.size());
  if (bytes > 0) std::memcpy(out.data(), view->data(), bytes);
  in.Consume(bytes);
  return bytes;
}

void Read(PipeReader& in, DoorbellWord& bell, const std::vector<std::size_t>& sizes, bool peeks) {
  std::size_t begin = 0;
  for (const std::size_t size : sizes) {
    Bytes bytes(size);
    std::size_t done = 0;
    Drive(
        bell, [&] { return done == size; },
        [&] {
          const std::size_t moved = Take(in, std::span(bytes).subspan(done), peeks);
          done += moved;
          return moved > 0;
        });
    for (std::size_t i = 0; i < size; ++i)
      if (bytes[i] != ByteAt(begin + i)) Fail("byte " + std::to_string(begin + i) + " is wrong");
    begin += size;
  }
}

class PipeModel : public testing::Test {
 public:
  PipeModel() {
    SharedMemory().Share("shared", &shared, sizeof shared);
    for (std::size_t i = 0; i <= kPipes; ++i)
      SharedMemory().Name("bell of " + std::to_string(i), &shared.bells[i], sizeof(DoorbellWord));
    for (std::size_t i = 0; i < kPipes; ++i) {
      const auto& header = *Pipe(i).header;
      SharedMemory().Name("ring", Pipe(i).ring.data(), kPipeBytesMin);
      SharedMemory().Name("written", &header.written_bytes, 8);
      SharedMemory().Name("recent end", &header.recent_end, 8);
      SharedMemory().Name("recent bytes", &header.recent_bytes, 8);
      SharedMemory().Name("recent", &header.recent, sizeof header.recent);
      SharedMemory().Name("read", &header.read_bytes, 8);
      SharedMemory().Name("wish", &header.room_wanted_bytes, 4);
    }
  }
  ~PipeModel() override { SharedMemory().Forget(); }

 protected:
  using Sizes = std::vector<std::size_t>;
  static void Clear() { std::memset(static_cast<void*>(&shared), 0, sizeof shared); }

  static Scenario Stream(const std::string& name, const Sizes& writes, const Sizes& reads,
                         std::size_t head = 0, bool peeks = false) {
    return {.name = name,
            .begin = Clear,
            .threads = {[=] {
                          PipeWriter out(Pipe(0), DoorbellButton(shared.bells[1], -1));
                          Write(out, shared.bells[0], writes, head);
                        },
                        [=] {
                          PipeReader in(Pipe(0), DoorbellButton(shared.bells[0], -1));
                          Read(in, shared.bells[1], reads, peeks);
                        }},
            .end = {}};
  }
};

TEST_F(PipeModel, FewBytesArrive) {
  ExpectRightInAll(Stream("8 bytes", {8}, {8}));
  ExpectRightInAll(Stream("8 bytes, peeked", {8}, {8}, 0, true));
  ExpectRightInAll(Stream("a head of 8 and 8 bytes", {16}, {16}, 8));
  ExpectRightInAll(Stream("twice 8 bytes", {8, 8}, {8, 8}));
}

TEST_F(PipeModel, MoreBytesThanTheRingHoldsArrive) {
  ExpectRightInAll(Stream("64, then 48 bytes", {64, 48}, {64, 48}));
  ExpectRightInMuch(Stream("150 bytes", {150}, {150}));
  ExpectRightInMuch(Stream("a head of 16 and 112 bytes, peeked", {128}, {128}, 16, true));
}

TEST_F(PipeModel, TwoWritersShareTheDoorbellOfOneReader) {
  Scenario scenario = Stream("8 bytes each of two pipes", {8}, {8});
  scenario.threads[1] = [] {
    for (std::size_t i = 0; i < kPipes; ++i) {
      PipeReader in(Pipe(i), DoorbellButton(shared.bells[i == 0 ? 0 : 2], -1));
      Read(in, shared.bells[1], {8}, false);
    }
  };
  scenario.threads.push_back([] {
    PipeWriter out(Pipe(1), DoorbellButton(shared.bells[1], -1));
    Write(out, shared.bells[2], {8}, 0);
  });
  ExpectRightInAll(scenario);
}

TEST_F(PipeModel, BytesWrittenBeforeTheCloseArrive) {
  Scenario scenario = Stream("closed behind 48 bytes", {48}, {48});
  scenario.threads[0] = [] {
    PipeWriter out(Pipe(0), DoorbellButton(shared.bells[1], -1));
    Write(out, shared.bells[0], {48}, 0);
    out.Close();
  };
  scenario.threads[1] = [] {
    PipeReader in(Pipe(0), DoorbellButton(shared.bells[0], -1));
    bool done = false;
    std::array<std::byte, 48> bytes;
    Drive(
        shared.bells[1], [&] { return done; },
        [&] {
          const bool closed = in.writer_closed();
          const std::size_t read = Take(in, bytes, false);
          if (read == 0 && closed) Fail("closed, and nothing has come");
          done = read == 48;
          return done;
        });
  };
  ExpectRightInAll(scenario);
}

TEST_F(PipeModel, PlantedMistakesAreFound) {
  constexpr const char *kAsleep = "nobody wakes them", *kRace = "data race", *kWrong = "is wrong";
  const Scenario large = Stream("64, then 48 bytes", {64, 48}, {64, 48});
  const Scenario twice = Stream("twice 8 bytes", {8, 8}, {8, 8});
  ExpectFound(large, Weakened("the writer's count is relaxed", "written", Op::kStore), kRace);
  ExpectFound(large, Weakened("it is looked at relaxed", "written", Op::kLoad), kRace);
  ExpectFound(large, Weakened("the reader's count is relaxed", "read", Op::kStore), kRace);
  ExpectFound(large,
              Weakened("the wish is stored with release", "wish", Op::kStore, Order::kRelease),
              kAsleep);
  ExpectFound(large,
              Weakened("the wish is looked at with acquire", "wish", Op::kLoad, Order::kAcquire),
              kAsleep);
  ExpectFound(
      large,
      Weakened("the reader's count is stored with release", "read", Op::kStore, Order::kRelease),
      kAsleep);
  ExpectFound(twice, Weakened("words beside the count are relaxed", "recent", Op::kStore), kWrong);
  ExpectFound(twice, Weakened("they are looked at relaxed", "recent", Op::kLoad), kWrong);
  ExpectFound(twice,
              {.name = "nothing says that they change",
               .before =
                   [](std::string_view at, Event& event) {
                     if (event.op == Op::kStore && at == "recent end" && event.value == 0)
                       event.dropped = true;
                   }},
              kWrong);
}

}  // namespace
}  // namespace ringlet::model
