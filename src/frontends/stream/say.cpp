#include "frontends/stream/say.hpp"

#include <fmt/format.h>

#include <utility>

namespace ringlet::stream_api {
namespace {

thread_local std::string last_message;
thread_local std::string shown;

}  // namespace

ringletResult_t Keep(const stream::Answer& answer) {
  if (!answer.why.empty()) last_message = answer.why;
  return answer.code;
}

const char* LastMessage() {
  return Show(last_message);
}

const char* Show(std::string text) {
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
