// All streams, events, captures and graphs of a process. Implements the functions of
// ringlet/stream.h. Handles are looked up and never dereferenced.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "stream/answer.hpp"
#include "stream/stream_state.hpp"

namespace ringlet::stream {

/// A task that belongs to several streams. It begins when all streams have reached it, and no
/// stream continues before it is done.
struct JointTask {
  std::vector<ringletStream_t> streams = {};  ///< at least one
  TaskRef task = {};
  /// Recorded where the task begins: all streams have reached it and its predecessors in serial
  /// orders have ended. In a capture, recorded behind the nodes on which the task depends.
  std::vector<ringletEvent_t> begins = {};
  bool awaited = false;  ///< the caller waits for it, so it cannot be captured
  ItemEndRef done = {};  ///< output; null if the task was captured
};

/// The functions of ringlet/stream.h, which documents them. Any thread.
class StreamTable {
 public:
  /// Returns the table of this process. The first call creates it, also in the child of a fork. It
  /// is never destroyed, because workers may outlive main's statics.
  static StreamTable& Here();
  StreamTable(const StreamTable&) = delete;
  StreamTable& operator=(const StreamTable&) = delete;

  // Streams.
  Answer Create(ringletStream_t* stream, int device, unsigned flags, int priority);
  Answer Destroy(ringletStream_t stream);
  Answer Query(ringletStream_t stream);
  Answer Synchronize(ringletStream_t stream);
  Answer SynchronizeDevice(int device);
  Answer AwaitDevice(int device);
  Answer WaitEvent(ringletStream_t stream, ringletEvent_t event);
  Answer Launch(ringletStream_t stream, TaskRef task);
  /// Issues all tasks or none, in their order, without any other item between them.
  Answer Enqueue(std::span<JointTask> tasks);
  struct Properties {
    int device = 0;
    unsigned flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    std::string last_error = {};
  };
  Answer Describe(ringletStream_t stream, Properties* properties);
  /// Returns a handle of the same stream that means the same on every thread. The null stream, the
  /// legacy and the per-thread stream are those of `device`.
  ringletStream_t OnDevice(int device, ringletStream_t stream);
  /// Fails if the stream does not exist.
  Answer Check(ringletStream_t stream);

  // Events.
  Answer CreateEvent(ringletEvent_t* event, unsigned flags);
  Answer DestroyEvent(ringletEvent_t event);
  Answer Record(ringletEvent_t event, ringletStream_t stream);
  /// Records a point that has been reached: the beginning of work outside of all streams.
  Answer RecordNow(ringletEvent_t event);
  /// Succeeds if the event can mark the beginning of a task. The event must exist and have neither
  /// timing nor the interprocess flag, as CUDA requires for events that report a launch.
  Answer CheckBegin(ringletEvent_t event);
  Answer QueryEvent(ringletEvent_t event);
  Answer SynchronizeEvent(ringletEvent_t event);
  Answer ElapsedTime(float* milliseconds, ringletEvent_t start, ringletEvent_t end);

  // Captures.
  Answer BeginCapture(ringletStream_t stream, int mode);
  Answer EndCapture(ringletStream_t stream, ringletGraph_t* graph);
  struct CaptureStatus {
    int status = ringletCaptureNone;
    unsigned long long id = 0;
    ringletGraph_t graph = nullptr;
  };
  Answer DescribeCapture(ringletStream_t stream, CaptureStatus* status);
  Answer GetCaptureNodes(ringletStream_t stream, std::vector<ringletGraphNode_t>* nodes);
  Answer SetCaptureNodes(ringletStream_t stream, std::span<const ringletGraphNode_t> nodes,
                         bool adds);
  Answer CheckCapture();
  /// Sets this thread's mode. \param mode  receives the previous mode
  static Answer ExchangeCaptureMode(int* mode);

  // Graphs.
  Answer CreateGraph(ringletGraph_t* graph);
  Answer DestroyGraph(ringletGraph_t graph);
  Answer AddNode(ringletGraphNode_t* node, ringletGraph_t graph,
                 std::span<const ringletGraphNode_t> dependencies, TaskRef task);
  Answer Clone(ringletGraph_t* clone, ringletGraph_t graph);
  Answer GetNodes(ringletGraph_t graph, std::vector<ringletGraphNode_t>* nodes);
  Answer Instantiate(ringletGraphExec_t* exec, ringletGraph_t graph);
  Answer LaunchGraph(ringletGraphExec_t exec, ringletStream_t stream);
  Answer DestroyExec(ringletGraphExec_t exec);
  Answer OnDestroy(ringletGraph_t graph, std::function<void()> call);

  /// Joins the ended threads of destroyed streams and executables.
  void Reap() { Reap(false); }
  /// Joins also the threads that have run all their items and are about to end. Waits for them.
  void ReapLast() { Reap(true); }
  /// Destroy without Reap, which could join the calling, exiting thread. False: unknown stream.
  bool Abandon(ringletStream_t stream);

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct NodeOfGraph {
    GraphState* graph = nullptr;
    NodeIndex index = 0;
  };
  struct DeviceStreams {
    StreamRef legacy = {};
    std::vector<StreamRef> streams = {};  ///< includes the legacy stream and retired streams
    /// The first failed end of a destroyed stream that no call has reported. Null if none.
    ItemEndRef unreported = {};
  };

  explicit StreamTable(std::uintptr_t first_handle);

  void Reap(bool waits);

  // The caller holds the lock for all of these.
  template <typename Handle>
  Handle NextHandle();
  Answer Unknown(const void* handle, const char* what) const;
  StreamRef Add(ringletStream_t handle, int device);
  StreamRef LegacyOf(int device);
  StreamRef PerThread(int device);
  /// Returns null if the stream does not exist.
  StreamRef Find(ringletStream_t stream);
  /// Finds a stream and waits for room in its queue. Releases the lock during the wait.
  Answer Enter(Lock& lock, ringletStream_t stream, StreamRef* found);

  // The order of streams.
  std::vector<ItemEndRef> ImplicitPredecessors(const StreamState& stream);
  Answer CheckLegacy(const StreamState& stream);
  ItemEndRef Issue(StreamState& stream, StreamItem item);
  Answer Mark(StreamState& stream, ItemEndRef* mark);
  struct Awaited {
    StreamRef stream;
    ItemEndRef last;
  };
  std::vector<Awaited> AwaitedBy(const StreamRef& stream);
  static Answer CheckAwaitable(int device);
  Answer AwaitAll(Lock& lock, const std::vector<Awaited>& awaited);
  Answer ResolveJoint(Lock& lock, const JointTask& joint, std::vector<StreamRef>* streams);
  Answer CheckJoint(const JointTask& joint, const std::vector<StreamRef>& streams);
  Answer CheckBeginLocked(ringletEvent_t event) const;
  void IssueJoint(JointTask& joint, const std::vector<StreamRef>& streams);
  Answer CaptureJoint(const JointTask& joint, const std::vector<StreamRef>& streams);

  // Captures.
  Answer CheckCapturing(const StreamState& stream) const;
  Answer Capture(StreamState& stream, TaskRef task);
  Answer Join(StreamState& stream, const EventState& event);
  static void Break(CaptureState& capture) { capture.broken = true; }
  /// Ends a capture for its streams. Returns the last nodes of all streams but its origin.
  std::vector<NodeIndex> Leave(const CaptureRef& capture);
  std::shared_ptr<GraphState> Withdraw(ringletGraph_t graph);

  // Graphs.
  Answer NodesOf(const GraphState& graph, std::span<const ringletGraphNode_t> nodes,
                 std::vector<NodeIndex>* indices);
  void NameNodes(GraphState& graph);
  void IssueGraph(ExecState& exec, StreamState& stream);

  std::mutex mutex_;
  const std::uintptr_t first_handle_;
  std::uintptr_t last_handle_;
  unsigned long long last_id_ = 0;
  std::unordered_map<const void*, StreamRef> streams_;
  std::unordered_map<const void*, EventState> events_;
  std::unordered_map<const void*, std::shared_ptr<GraphState>> graphs_;
  std::unordered_map<const void*, NodeOfGraph> nodes_;
  std::unordered_map<const void*, std::unique_ptr<ExecState>> execs_;
  std::map<int, DeviceStreams> devices_;
  std::vector<CaptureRef> captures_;  // the active ones
  struct RetiredLane {
    std::unique_ptr<StreamWorker> lane = {};
    ItemEndRef last = {};  ///< end of the last launch of its executable
  };
  std::vector<RetiredLane> retired_lanes_;
};

}  // namespace ringlet::stream
