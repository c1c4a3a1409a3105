// Measures the time for Gloo to connect its full mesh over loopback.
//
//   ringlet_init_gloo RANKS PROCESSES
//
// The ranks are threads, spread over the given number of processes. Each rank has a device (an
// epoll thread) and a loopback address of its own. Gloo opens a listener per pair of ranks, and on
// one address the ports are exhausted at about a hundred ranks. The rendezvous is in memory, or in
// files with several processes, as Gloo offers for one machine without a server. The time is from
// the moment when all threads are ready to the last connected thread. Prints "total_ms NUMBER".
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

// Shared by all processes.
struct Board {
  std::atomic<int> ready{0};
  std::atomic<int> done{0};
  std::atomic<bool> failed{false};
  std::atomic<std::int64_t> first_begin_ns{INT64_MAX};
  std::atomic<std::int64_t> last_end_ns{0};
};

std::int64_t NowNs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void WaitFor(const std::atomic<int>& count, int wanted, const Board& board) {
  while (count < wanted && !board.failed) ::usleep(500);
}

void Keep(std::atomic<std::int64_t>& kept, std::int64_t value, bool smallest) {
  std::int64_t old = kept;
  while ((smallest ? value < old : value > old) && !kept.compare_exchange_weak(old, value)) {
  }
}

std::shared_ptr<gloo::transport::Device> DeviceOf(int rank) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname =
      "127.1." + std::to_string(rank / 250) + "." + std::to_string(1 + rank % 250);
  return gloo::transport::tcp::CreateDevice(attributes);
}

void RunRank(int rank, int size, gloo::rendezvous::Store& store, Board& board) {
  try {
    auto device = DeviceOf(rank);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
    context->setTimeout(std::chrono::minutes(2));
    ++board.ready;
    WaitFor(board.ready, size, board);
    Keep(board.first_begin_ns, NowNs(), true);
    context->connectFullMesh(store, device);
    Keep(board.last_end_ns, NowNs(), false);
    ++board.done;
    WaitFor(board.done, size, board);  // no process closes while others still connect
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    std::fflush(stderr);
    board.failed = true;
    ::_exit(1);  // otherwise the other ranks wait for a minute
  }
}

int RunProcess(int first, int count, int size, const std::string& folder, Board& board) {
  gloo::rendezvous::HashStore in_memory;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      if (folder.empty()) return RunRank(first + i, size, in_memory, board);
      gloo::rendezvous::FileStore in_files(folder);  // threads may not share a FileStore
      RunRank(first + i, size, in_files, board);
    });
  for (std::thread& thread : threads) thread.join();
  std::fflush(stderr);
  ::_exit(board.failed ? 1 : 0);  // the destructors take longer than all the rest
}

}  // namespace

int main(int argument_count, char** arguments) {
  const int size = argument_count > 1 ? ::atoi(arguments[1]) : 8;
  const int processes = argument_count > 2 ? ::atoi(arguments[2]) : 1;
  if (size < 1 || processes < 1 || processes > size) return 2;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);

  void* const memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  Board& board = *new (memory) Board;
  std::string folder;
  if (processes > 1) {
    const char* const temporary = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    folder = std::string(temporary) + "/ringlet-gloo-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) return 1;
  }
  std::vector<pid_t> children;
  int first = 0;
  for (int p = 0; p < processes; ++p) {
    const int count = size / processes + (p < size % processes ? 1 : 0);
    const pid_t child = ::fork();
    if (child > 0) children.push_back(child);
    if (child == 0) {
      try {
        return RunProcess(first, count, size, folder, board);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        board.failed = true;
        ::_exit(1);
      }
    }
    first += count;
  }
  int status = 0;
  bool good = true;
  for (pid_t ended; (ended = ::wait(&status)) > 0;) {
    std::erase(children, ended);
    good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!good)
      for (const pid_t child : children) ::kill(child, SIGKILL);
  }
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  if (!good) return 1;
  std::printf("total_ms %.3f\n",
              static_cast<double>(board.last_end_ns - board.first_begin_ns) / 1e6);
  return 0;
}
