// A library between the oracle and Ringlet that lies in one way, so that tests see that the oracle
// finds it: preloaded, it defines NCCL's names and calls on under those that begin with p.
#include <nccl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

thread_local int open_groups = 0;

// In a group nothing has happened yet when a call returns.
bool Lies(const char* lie) {
  static const char* const wanted = std::getenv("ORACLE_LIE");
  return wanted && std::strcmp(wanted, lie) == 0 && open_groups == 0;
}

int RankOf(ncclComm_t comm) {
  int rank = 0;
  pncclCommUserRank(comm, &rank);
  return rank;
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
  if (Lies("crash")) std::abort();
  while (Lies("hang")) pause();
  if (!Lies("skip")) return pncclBroadcast(send, recv, count, type, root, comm, stream);
  void* elsewhere = std::malloc(count * kElementMax + 1);
  const ncclResult_t result = pncclBroadcast(send, elsewhere, count, type, root, comm, stream);
  std::free(elsewhere);
  return result;
}

LIE_EXPORT ncclResult_t ncclAllReduce(const void* send, void* recv, size_t count,
                                      ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                      cudaStream_t stream) {
  const ncclResult_t result = pncclAllReduce(send, recv, count, type, op, comm, stream);
  auto* bytes = static_cast<unsigned char*>(recv);
  if (result != ncclSuccess || count == 0) return result;
  if (OfOneByte(type) && Lies("element")) bytes[count - 1] ^= 1;
  if (OfOneByte(type) && Lies("beyond")) bytes[count] ^= 1;
  if (send != recv && Lies("input")) *static_cast<unsigned char*>(const_cast<void*>(send)) ^= 1;
  // One rank alone has another last digit, which is within the bound of rounding.
  const bool digits = type == ncclFloat32 || type == ncclFloat64;
  if (digits && RankOf(comm) == 0 && Lies("other_bits")) bytes[0] ^= 1;
  return Lies("code") ? ncclInternalError : result;
}

LIE_EXPORT ncclResult_t ncclGroupStart() {
  ++open_groups;
  return pncclGroupStart();
}

LIE_EXPORT ncclResult_t ncclGroupEnd() {
  --open_groups;
  const ncclResult_t result = pncclGroupEnd();
  return Lies("late_code") ? ncclSystemError : result;
}
