#include "stream_api/run_guarded.hpp"

#include <fmt/format.h>

#include <utility>

#include "os/process/per_thread.hpp"

namespace ringlet::stream_api {
namespace {

struct ThreadTexts {
  std::string last_message;
  std::string shown;
};
os::PerThread<ThreadTexts> texts_of_threads;

}  // namespace

ringletResult_t RecordAnswer(const stream::Answer& answer) {
  if (!answer.why.empty()) texts_of_threads.Get().last_message = answer.why;
  return answer.code;
}

const char* LastMessage() {
  return Show(texts_of_threads.Get().last_message);
}

const char* Show(std::string text) {
  std::string& shown = texts_of_threads.Get().shown;
  shown = std::move(text);
  return shown.c_str();
}

stream::Answer RequireThere(const void* pointer, const char* name) {
  if (pointer) return {};
  return {ringletInvalidArgument, fmt::format("{} is NULL", name)};
}

stream::TaskRef TaskOf(ringletHostFunction_t function, std::shared_ptr<HostData> data) {
  auto task = std::make_shared<stream::HostTask>();
  task->run = [function, data = std::move(data)]() -> Status {
    function(data->data());
    return Ok();
  };
  return task;
}

}  // namespace ringlet::stream_api
