// A library between the oracle and Ringlet that gives wrong results in one way, so tests check that
// the oracle detects it. It is preloaded, defines NCCL's names and forwards to those with a leading
// p.
#include <nccl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace {

thread_local int open_groups = 0;

// In a group, no operation has run yet when a call returns.
bool IsLieWanted(const char* lie) {
  static const char* const wanted = std::getenv("ORACLE_LIE");
  return wanted && std::strcmp(wanted, lie) == 0 && open_groups == 0;
}

int RankOf(ncclComm_t comm) {
  int rank = 0;
  pncclCommUserRank(comm, &rank);
  return rank;
}

// ---- Conditions of some lies: they show that the oracle creates them. ----

std::atomic<int> calling{0};      // threads of this process in a call outside of groups
std::atomic<bool> used{false};    // this process has made a call
std::atomic<bool> forked{false};  // it has forked afterwards

/// The calls of the open group of this thread.
struct OpenGroup {
  bool streams = false;
  unsigned char* null_output = nullptr;
};
thread_local OpenGroup open_group;

std::string NetworkNamespace() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/ns/net", none);
}
const std::string first_namespace = NetworkNamespace();  // of the process that starts all others

/// Returns true if another process has stopped a thread of this one.
bool HasStoppedThread() {
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::ifstream stat(task.path() / "stat");
    std::string text;
    std::getline(stat, text);
    const std::size_t name_end = text.rfind(") ");
    if (name_end != std::string::npos && text.compare(name_end + 2, 1, "t") == 0) return true;
  }
  return false;
}

/// A lie under a circumstance of only some programs.
bool IsLieDue(bool at_once) {
  return (at_once && IsLieWanted("apart")) || (forked && IsLieWanted("child")) ||
         (IsLieWanted("delayed") && HasStoppedThread()) ||
         (IsLieWanted("namespace") && NetworkNamespace() != first_namespace);
}

template <typename Call>
ncclResult_t CorruptAfter(void* output, size_t count, cudaStream_t stream, Call call) {
  used = true;
  auto* const bytes = static_cast<unsigned char*>(output);
  if (open_groups > 0 && stream) open_group.streams = true;
  if (open_groups > 0 && !stream && count > 0) open_group.null_output = bytes;
  const bool alone = open_groups == 0 && !stream;
  const bool at_once = alone && calling++ > 0;
  const ncclResult_t result = call();
  if (alone) --calling;
  if (alone && result == ncclSuccess && count > 0 && IsLieDue(at_once)) bytes[0] ^= 1;
  return result;
}

__attribute__((constructor)) void WatchForks() {
  pthread_atfork(
      nullptr, [] { forked = used.load(); }, nullptr);
}

bool OfOneByte(ncclDataType_t type) {
  return type == ncclInt8 || type == ncclUint8;
}

}  // namespace

#define LIE_EXPORT extern "C" __attribute__((visibility("default")))

LIE_EXPORT ncclResult_t ncclBroadcast(const void* send, void* recv, size_t count,
                                      ncclDataType_t type, int root, ncclComm_t comm,
                                      cudaStream_t stream) {
  constexpr size_t kElementMax = 8;
  if (IsLieWanted("crash")) std::abort();
  while (IsLieWanted("hang")) pause();
  if (stream || !IsLieWanted("skip"))  // on a stream, the call would run after free
    return CorruptAfter(recv, count, stream, [&] {
      return pncclBroadcast(send, recv, count, type, root, comm, stream);
    });
  void* elsewhere = std::malloc(count * kElementMax + 1);
  const ncclResult_t result = pncclBroadcast(send, elsewhere, count, type, root, comm, stream);
  std::free(elsewhere);
  return result;
}

LIE_EXPORT ncclResult_t ncclAllGather(const void* send, void* recv, size_t count,
                                      ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
  return CorruptAfter(recv, count, stream,
                      [&] { return pncclAllGather(send, recv, count, type, comm, stream); });
}

LIE_EXPORT ncclResult_t ncclAllReduce(const void* send, void* recv, size_t count,
                                      ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                      cudaStream_t stream) {
  auto* bytes = static_cast<unsigned char*>(recv);
  const ncclResult_t result = CorruptAfter(recv, count, stream, [&] {
    return pncclAllReduce(send, recv, count, type, op, comm, stream);
  });
  if (result != ncclSuccess || count == 0) return result;
  if (OfOneByte(type) && IsLieWanted("element")) bytes[count - 1] ^= 1;
  if (OfOneByte(type) && IsLieWanted("beyond")) bytes[count] ^= 1;
  if (send != recv && IsLieWanted("input"))
    *static_cast<unsigned char*>(const_cast<void*>(send)) ^= 1;
  // Only one rank has another last digit, within the bound of rounding.
  const bool digits = type == ncclFloat32 || type == ncclFloat64;
  if (digits && RankOf(comm) == 0 && IsLieWanted("other_bits")) bytes[0] ^= 1;
  return IsLieWanted("code") ? ncclInternalError : result;
}

LIE_EXPORT ncclResult_t ncclGroupStart() {
  ++open_groups;
  return pncclGroupStart();
}

LIE_EXPORT ncclResult_t ncclGroupEnd() {
  --open_groups;
  const ncclResult_t result = pncclGroupEnd();
  if (open_groups == 0) {
    const OpenGroup ended = std::exchange(open_group, {});
    if (ended.streams && ended.null_output && IsLieWanted("mixed")) *ended.null_output ^= 1;
  }
  return IsLieWanted("late_code") ? ncclSystemError : result;
}
