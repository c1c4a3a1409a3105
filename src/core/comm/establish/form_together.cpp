#include "comm/establish/form_together.hpp"

#include <mutex>
#include <thread>
#include <vector>

#include "os/process/thread.hpp"

namespace ringlet::comm {

Status FormTogether(std::size_t count,
                    const std::function<Status(std::size_t, const std::stop_token&)>& form) {
  if (count == 1) return form(0, {});
  std::stop_source abort;
  std::mutex mutex;
  Status first = Ok();
  const auto note = [&](const Status& status) {
    if (status.ok()) return;
    const std::lock_guard lock(mutex);
    if (first.ok()) first = status;
    abort.request_stop();
  };
  std::vector<std::jthread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count && !abort.stop_requested(); ++i) {
    auto started = os::StartThread("to form a communicator", [&, i](const std::stop_token&) {
      note(os::Caught([&] { return form(i, abort.get_token()); }));
    });
    if (started.ok())
      threads.push_back(*std::move(started));
    else
      note(started.error());
  }
  threads.clear();
  return first;
}

}  // namespace ringlet::comm
