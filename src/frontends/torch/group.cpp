#include "frontends/torch/group.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "comm/family.hpp"

namespace ringlet::torch_api {

Group::Group(Options options, std::shared_ptr<KeyStore> store)
    : options_(std::move(options)),
      store_(std::move(store)),
      timeout_ms_(options_.timeout.count()) {}

Group::~Group() = default;

Result<comm::Communicator*> Group::Main() {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    if (main_) return main_.get();
  }
  formed_ = true;
  const Seat seat{.rank = options_.rank,
                  .size = options_.size,
                  .key = "0",
                  .ranks_per_root = options_.ranks_per_root,
                  .timeout = options_.init_timeout,
                  .operation_timeout = timeout()};
  auto process = SharedProcess();
  auto formed = process.ok() ? Form(*store_, seat, *process, ending_.get_token())
                             : Result<std::unique_ptr<comm::Communicator>>(process.error());
  const std::lock_guard lock(mutex_);
  if (formed.ok()) {
    main_ = std::move(*formed);
    return main_.get();
  }
  failure_ = formed.error();
  return *failure_;
}

Status Group::Beget(Group& child, const std::vector<std::uint32_t>& ranks) {
  std::vector<std::uint32_t> excluded;
  for (std::uint32_t rank = 0; rank < options_.size; ++rank)
    if (!std::ranges::binary_search(ranks, rank)) excluded.push_back(rank);
  Status status = Ok();
  turnstile_.RunHere([&] {
    auto parent = Main();
    if (!parent.ok()) {
      status = parent.error();
      return;
    }
    auto made = comm::Shrink(**parent, excluded, ending_.get_token());
    if (!made.ok()) {
      status = made.error();
      return;
    }
    const std::lock_guard lock(child.mutex_);
    child.main_ = std::move(*made);
    child.formed_ = true;
  });
  return status;
}

void Group::Abort(const std::string& why) {
  ending_.request_stop();
  const std::lock_guard lock(mutex_);
  if (!failure_)
    failure_ = Error{Code::kAborted,
                     fmt::format("the process group {} was aborted: {}", options_.name, why)};
  if (main_) main_->Abort(why);
}

}  // namespace ringlet::torch_api
