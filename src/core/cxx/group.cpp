// Collects calls and runs them together. communicator.cpp runs single calls.
#include "comm/run/group.hpp"

#include <fmt/format.h>

#include <utility>

#include "comm/service/thread.hpp"
#include "cxx/held.hpp"
#include "cxx/request.hpp"

namespace ringlet {

struct Group::Impl {
  std::vector<comm::GroupedCall> calls;
  std::optional<Error> wrong;  // the first wrong call; if set, no call runs

  template <typename Asked>
  void Add(const Communicator& on, const Asked& asked) {
    if (wrong) return;
    const Status added = comm::Caught([&] { return TryAdd(on, asked); });
    if (!added.ok()) wrong = added.error();
  }

 private:
  template <typename Asked>
  Status TryAdd(const Communicator& on, const Asked& asked) {
    Status checked = Communicator::Impl::Check(on.impl_.get());
    if (checked.ok()) checked = Check(on.impl_->communicator, asked);
    if (checked.ok()) return checked;
    Error error = std::move(checked).error();
    error.message = fmt::format("call {} of the group: {}", calls.size() + 1, error.message);
    return error;
  }

  template <typename Asked>
  Status Check(const std::shared_ptr<comm::Communicator>& communicator, const Asked& asked) {
    RINGLET_TRY_ASSIGN(comm::Work work, cxx::WorkOf(asked, *communicator));
    RINGLET_TRY(communicator->Validate(work));
    calls.push_back({communicator, std::move(work)});
    return Ok();
  }
};

Group::Group() : impl_(std::make_unique<Impl>()) {}
Group::~Group() = default;

void Group::AllReduce(const Communicator& on, SendBuffer send, ReceiveBuffer receive, ReduceOp op) {
  impl_->Add(on, cxx::AllReduceOf(send, receive, op));
}

void Group::Reduce(const Communicator& on, SendBuffer send, ReceiveBuffer receive, ReduceOp op,
                   Rank root) {
  impl_->Add(on, cxx::ReduceOf(send, receive, op, root));
}

void Group::Broadcast(const Communicator& on, ReceiveBuffer data, Rank root) {
  impl_->Add(on, cxx::BroadcastOf(data, root));
}

void Group::AllGather(const Communicator& on, SendBuffer send, ReceiveBuffer receive) {
  impl_->Add(on, cxx::AllGatherOf(send, receive));
}

void Group::ReduceScatter(const Communicator& on, SendBuffer send, ReceiveBuffer receive,
                          ReduceOp op) {
  impl_->Add(on, cxx::ReduceScatterOf(send, receive, op));
}

void Group::AllToAll(const Communicator& on, SendBuffer send, ReceiveBuffer receive) {
  impl_->Add(on, cxx::AllToAllOf(send, receive));
}

void Group::Scatter(const Communicator& on, SendBuffer send, ReceiveBuffer receive, Rank root) {
  impl_->Add(on, cxx::ScatterOf(send, receive, root));
}

void Group::Gather(const Communicator& on, SendBuffer send, ReceiveBuffer receive, Rank root) {
  impl_->Add(on, cxx::GatherOf(send, receive, root));
}

void Group::Send(const Communicator& on, SendBuffer data, Rank to) {
  impl_->Add(on, cxx::SendOf(data, to));
}

void Group::Receive(const Communicator& on, ReceiveBuffer data, Rank from) {
  impl_->Add(on, cxx::ReceiveOf(data, from));
}

void Group::Barrier(const Communicator& on) {
  impl_->Add(on, cxx::Request{});
}

std::size_t Group::size() const noexcept {
  return impl_->calls.size();
}

Status Group::End() {
  const std::vector<comm::GroupedCall> calls = std::move(impl_->calls);
  const std::optional<Error> wrong = std::move(impl_->wrong);
  impl_->calls.clear();
  impl_->wrong.reset();
  if (wrong) return *wrong;
  return comm::Caught([&] { return comm::RunGroup(calls); });
}

}  // namespace ringlet
