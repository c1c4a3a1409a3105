// Each C function is check, call, keep the sentence: the body gives an Answer, Say its code.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "stream/answer.hpp"
#include "stream/host_task.hpp"

namespace ringlet::stream_api {

/// Keeps the sentence of an answer that has one, for ringletStreamLastMessage.
ringletResult_t Keep(const stream::Answer& answer);
/// That of this thread; "": none yet.
const char* LastMessage();
/// Keeps a text for the caller until the next one on this thread.
const char* Show(std::string text);

/// Runs `body`; nothing that is thrown below crosses into C.
template <typename Body>
ringletResult_t Say(Body&& body) noexcept {
  try {
    return Keep(body());
  } catch (const std::bad_alloc&) {
    return ringletOutOfMemory;  // its sentence would need memory
  }
}

/// Errors  ringletInvalidArgument  it is null
stream::Answer RequireThere(const void* pointer, const char* name);

/// Gives nodes as C functions do. \param count  in: how many `out` takes; out: how many there are
template <typename Node>
void GiveNodes(const std::vector<Node>& nodes, Node* out, std::size_t* count) {
  if (out)
    for (std::size_t i = 0; i < nodes.size() && i < *count; ++i) out[i] = nodes[i];
  *count = nodes.size();
}

/// The data of a host function, ended with the last task that has them.
class HostData {
 public:
  /// \param release  called with `data` in the end; null: nothing is
  HostData(void* data, ringletHostFunction_t release) : data_(data), release_(release) {}
  ~HostData() {
    if (release_) release_(data_);
  }
  HostData(const HostData&) = delete;
  HostData& operator=(const HostData&) = delete;

  void* data() const { return data_; }
  /// Changes who ends the data, while no stream has them. \param release  null: the caller
  void Own(ringletHostFunction_t release) { release_ = release; }

 private:
  void* data_;
  ringletHostFunction_t release_;
};

/// Shared by the copies that a std::function may be made of.
stream::TaskRef TaskOf(ringletHostFunction_t function, std::shared_ptr<HostData> data);

}  // namespace ringlet::stream_api
