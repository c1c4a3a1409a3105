// The objects behind the handles of streams, events, captures and graphs. StreamTable owns them.
// Its lock guards all of their members except the workers.
#pragma once
#include <memory>
#include <thread>
#include <vector>

#include "stream/executable.hpp"
#include "stream/worker.hpp"

namespace ringlet::stream {

struct GraphState {
  HostGraph graph = {};
  std::vector<ringletGraphNode_t> names = {};  ///< handles of its nodes
  bool in_capture = false;
};

/// One capture, from its beginning to its end.
struct CaptureState {
  unsigned long long id = 0;
  int mode = ringletCaptureGlobal;
  std::thread::id thread = {};
  ringletStream_t origin = nullptr;
  ringletGraph_t handle = nullptr;  ///< the handle of the graph
  GraphState* graph = nullptr;      ///< valid until the capture is over
  bool broken = false;
  bool over = false;
  std::vector<NodeIndex> loose = {};  ///< the last nodes of destroyed streams
};
/// Shared by the streams in the capture and the events that were recorded in it.
using CaptureRef = std::shared_ptr<CaptureState>;

struct StreamState {
  StreamState(ringletStream_t its_handle, int its_device)
      : handle(its_handle), device(its_device), worker(its_device, true) {}

  const ringletStream_t handle;
  const int device;
  unsigned flags = ringletStreamDefault;
  int priority = 0;
  unsigned long long id = 0;
  bool legacy = false;
  bool retired = false;              ///< destroyed, but kept until its items have run
  ItemEndRef last = {};              ///< end of the item issued last; null: no wait needed
  CaptureRef capture = {};           ///< null: issued items run
  std::vector<NodeIndex> tips = {};  ///< the predecessors of the next node in the capture
  StreamWorker worker;

  bool blocking() const { return !legacy && (flags & ringletStreamNonBlocking) == 0; }
};
/// Shared by the table and by the threads that wait for room in its queue.
using StreamRef = std::shared_ptr<StreamState>;

struct EventState {
  unsigned flags = 0;
  ItemEndRef record = {};  ///< null: never recorded, or recorded in a capture
  CaptureRef capture = {};
  std::vector<NodeIndex> tips = {};

  bool timed() const { return (flags & ringletEventDisableTiming) == 0; }
};

struct ExecState {
  HostGraph graph = {};
  GraphDivision division = {};
  std::vector<std::unique_ptr<StreamWorker>> lanes =
      {};  ///< all but lane 0, which is the stream's worker
  std::shared_ptr<const void> keepers = {};
  ItemEndRef last = {};  ///< of its last launch
};

}  // namespace ringlet::stream
