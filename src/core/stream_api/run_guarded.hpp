// Helpers of the C functions, which check arguments, call, keep the message and return the code.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "stream/answer.hpp"
#include "stream/host_task.hpp"

namespace ringlet::stream_api {

/// Keeps the message of an answer, if it has one, for ringletStreamLastMessage.
ringletResult_t RecordAnswer(const stream::Answer& answer);
/// Returns the last message of this thread. Empty if none was kept.
const char* LastMessage();
/// Keeps a text for the caller until the next call on this thread.
const char* Show(std::string text);

/// Runs `body`. No exception crosses into C.
template <typename Body>
ringletResult_t RunGuarded(Body&& body) noexcept {
  try {
    return RecordAnswer(body());
  } catch (const std::bad_alloc&) {
    return ringletOutOfMemory;  // a message would need memory
  }
}

/// Errors  ringletInvalidArgument  `pointer` is null
stream::Answer RequireThere(const void* pointer, const char* name);

/// Copies nodes to a C caller. \param count  in: capacity of `out`; out: number of nodes
template <typename Node>
void CopyNodes(const std::vector<Node>& nodes, Node* out, std::size_t* count) {
  if (out)
    for (std::size_t i = 0; i < nodes.size() && i < *count; ++i) out[i] = nodes[i];
  *count = nodes.size();
}

/// The data of a host function. Released with the last task that holds them.
class HostData {
 public:
  /// \param release  called with `data` on destruction; null: no call
  HostData(void* data, ringletHostFunction_t release) : data_(data), release_(release) {}
  ~HostData() {
    if (release_) release_(data_);
  }
  HostData(const HostData&) = delete;
  HostData& operator=(const HostData&) = delete;

  void* data() const { return data_; }
  /// Sets the release function before a stream holds the data. \param release  null: the caller
  void SetRelease(ringletHostFunction_t release) { release_ = release; }

 private:
  void* data_;
  ringletHostFunction_t release_;
};

/// Shares the data, because a std::function may be copied.
stream::TaskRef TaskOf(ringletHostFunction_t function, std::shared_ptr<HostData> data);

}  // namespace ringlet::stream_api
