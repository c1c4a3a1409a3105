// The layout of NCCL's profiler and tuner plug-ins, versions 5 and 6, for plug-ins compiled with
// NCCL's headers. Version 6 extends version 5 at the ends of its structs, so one declaration serves
// both.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ringlet::comm::nccl_abi {

using Answer = int;  ///< ncclResult_t
inline constexpr Answer kSuccess = 0;

/// \param level      NCCL's number of a LogLevel: 2 warns, 3 informs
/// \param subsystem  bits of Subsystem
/// \param format     of printf, followed by its arguments
using LogFunction = void (*)(int level, unsigned long subsystem, const char* file, int line,
                             const char* format, ...);

/// The types of events, as bits of the mask that a plug-in requests.
enum EventType : std::uint64_t {
  kGroup = 1u << 0,
  kCollective = 1u << 1,
  kMessage = 1u << 2,
  kProxyOperation = 1u << 3,
  kProxyStep = 1u << 4,
  kProxyControl = 1u << 5,
  kKernelChannel = 1u << 6,
  kNetPlugin = 1u << 7,
  kGroupCall = 1u << 8,
  kCollectiveCall = 1u << 9,
  kMessageCall = 1u << 10,
  kKernelLaunch = 1u << 11,
};

enum ProfilerState : int {
  kKernelChannelStops = 22,
  kGroupStartReturns = 23,
  kGroupEndBegins = 24,
};

/// An event when it starts. Texts have static storage, because plug-ins keep them.
struct Event {
  std::uint64_t type;
  void* parent;  ///< the handle of the enclosing event
  int rank;
  union {
    struct {
      bool graph_captured;
      int depth;  ///< 1: a call outside a group
    } group_call;
    struct {
      const char* function;
      std::size_t count;
      const char* data_type;
      int root;
      void* stream;
      bool graph_captured;
    } collective_call;
    struct {
      const char* function;
      std::size_t count;
      const char* data_type;
      void* stream;
      bool graph_captured;
    } message_call;
    struct {
      void* stream;
    } kernel_launch;
    struct {
      std::uint64_t number;  ///< among the calls of its function
      const char* function;
      const void* send_buffer;
      void* receive_buffer;
      std::size_t count;
      int root;
      const char* data_type;
      std::uint8_t channels;
      std::uint8_t warps;
      const char* algorithm;
      const char* protocol;
      void* group;  ///< handle of the kGroup event
    } collective;
    struct {
      const char* function;
      void* buffer;
      const char* data_type;
      std::size_t count;
      int peer;
      std::uint8_t channels;
      void* group;
    } message;
    struct {
      std::uint8_t channel;
      std::uint64_t time_ns;  ///< when it began
    } kernel_channel;
    /// The longest member of version 6, which describes copies by a copy engine.
    std::uint64_t room[11];
  } of;
};

/// The attributes of an event that change with its state.
union StateChange {
  struct {
    std::uint64_t time_ns;
  } kernel_channel;
  std::uint64_t room[1];
};

struct Profiler {
  const char* name;
  Answer (*init)(void** context, std::uint64_t communicator, int* mask, const char* name, int nodes,
                 int ranks, int rank, LogFunction log);
  Answer (*start)(void* context, void** handle, Event* event);
  Answer (*stop)(void* handle);
  Answer (*record)(void* handle, ProfilerState state, StateChange* change);
  Answer (*finalize)(void* context);
};

// ---- Tuners -------------------------------------------------------------------------------------

inline constexpr int kTunedAlgorithms = 7;  ///< in the order of plan::NcclAlgorithm
inline constexpr int kTunedProtocols = 3;   ///< in the order of plan::Protocol
inline constexpr float kNotPossible = -1;   ///< an entry of the table of costs

/// Microseconds by [algorithm][protocol]. A plug-in lowers an entry to prefer it.
using CostTable = float[kTunedAlgorithms][kTunedProtocols];

struct NvlinkDomains {
  int domains;
  int ranks_min;  ///< of the domain with the fewest ranks
  int ranks_max;
};

/// The numbers of NCCL's model, microseconds and GB/s, as in plan::TuningConstants.
struct TunerConstants {
  using Latencies = double[kTunedAlgorithms][kTunedProtocols];
  using Rates = double[4][3];
  Latencies base;
  Latencies wire[3];
  Rates ll, ring_ll128, tree_ll128, tree, nvls_tree;
};

/// Version 5 lacks the last member.
struct TunerTable {
  const char* name;
  Answer (*init)(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes,
                 LogFunction log, NvlinkDomains* domains, TunerConstants* constants);
  /// \param function  in the order of plan::Function \param registered  0 or 1
  /// \param channels  out: 0 leaves the choice
  Answer (*choose)(void* context, int function, std::size_t bytes, int operations, float** costs,
                   int algorithms, int protocols, int registered, int* channels);
  Answer (*finalize)(void* context);
  /// Not called, because Ringlet does not use such chunks.
  Answer (*chunk_size)(void* context, int function, std::size_t bytes, int algorithm, int protocol,
                       int channels, std::size_t* chunk_bytes);
};

}  // namespace ringlet::comm::nccl_abi
