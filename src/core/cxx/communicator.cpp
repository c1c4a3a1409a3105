// The C++ interface. Each function checks its arguments, calls comm and returns its errors.
#include "ringlet/communicator.hpp"
#include "comm/process/process_of_program.hpp"

#include <fmt/format.h>

#include <chrono>

#include "comm/establish/establish.hpp"
#include "comm/establish/form_together.hpp"
#include "comm/establish/split.hpp"
#include "comm/service/thread.hpp"
#include "cxx/held.hpp"
#include "cxx/options.hpp"
#include "cxx/request.hpp"

namespace ringlet {
namespace {

/// Exceeds the number of threads of any process.
constexpr std::uint32_t kRanksHereMax = 1 << 16;

/// Time for the service thread to process an abort, so that later operations on this rank fail.
constexpr std::chrono::milliseconds kAbortMax(1000);

template <typename Asked>
Status RunOn(const std::shared_ptr<comm::Communicator>& communicator, const Asked& asked) {
  return comm::Caught([&]() -> Status {
    RINGLET_TRY_ASSIGN(const comm::Work work, cxx::WorkOf(asked, *communicator));
    return communicator->Run(work);
  });
}

Result<std::vector<std::unique_ptr<comm::Communicator>>> FormAll(
    const std::shared_ptr<comm::Process>& process, const std::vector<comm::Config>& configs) {
  std::vector<std::unique_ptr<comm::Communicator>> formed(configs.size());
  const auto form = [&](std::size_t i, const std::stop_token& abort) -> Status {
    RINGLET_TRY_ASSIGN(formed[i], comm::Establish(process, configs[i], abort));
    return Ok();
  };
  RINGLET_TRY(comm::FormTogether(configs.size(), form));
  return formed;
}

Result<std::vector<comm::Config>> ConfigsOfAll(const comm::Process& process, const UniqueId& id,
                                               std::uint32_t size,
                                               const CommunicatorOptions& options) {
  std::vector<comm::Config> configs;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    RINGLET_TRY_ASSIGN(comm::Config config, cxx::ConfigOf(process, id, Rank{rank}, size, options));
    config.expects_one_host = true;
    configs.push_back(std::move(config));
  }
  return configs;
}

Status CheckOfAll(std::uint32_t size, const CommunicatorOptions& options) {
  if (size < 1 || size > kRanksHereMax)
    return Error{Code::kInvalidArgument,
                 fmt::format("size is {}, not between 1 and {}", size, kRanksHereMax)};
  if (options.device)
    return Error{Code::kInvalidArgument,
                 fmt::format("the option device is {} for all {} ranks of CreateAll, but each rank "
                             "needs its own device: leave it empty, or call Create for each rank",
                             *options.device, size)};
  return Ok();
}

}  // namespace

Communicator::Communicator() noexcept = default;
Communicator::Communicator(Communicator&& other) noexcept = default;
Communicator& Communicator::operator=(Communicator&& other) noexcept = default;
Communicator::~Communicator() = default;
Communicator::Communicator(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Result<Communicator> Communicator::Create(const UniqueId& id, Rank rank, std::uint32_t size,
                                          const CommunicatorOptions& options) {
  return comm::Caught([&]() -> Result<Communicator> {
    RINGLET_TRY_ASSIGN(const auto process, comm::ProcessOfProgram(options.environment));
    RINGLET_TRY_ASSIGN(const comm::Config config, cxx::ConfigOf(*process, id, rank, size, options));
    RINGLET_TRY_ASSIGN(auto formed, comm::Establish(process, config, {}));
    return Communicator(std::make_unique<Impl>(std::move(formed)));
  });
}

Result<std::vector<Communicator>> Communicator::CreateAll(std::uint32_t size,
                                                          const CommunicatorOptions& options) {
  return comm::Caught([&]() -> Result<std::vector<Communicator>> {
    RINGLET_TRY(CheckOfAll(size, options));
    RINGLET_TRY_ASSIGN(const auto process, comm::ProcessOfProgram(options.environment));
    RINGLET_TRY_ASSIGN(const UniqueId id, comm::CreateUniqueId(process));
    RINGLET_TRY_ASSIGN(const auto configs, ConfigsOfAll(*process, id, size, options));
    RINGLET_TRY_ASSIGN(auto formed, FormAll(process, configs));
    std::vector<Communicator> all;
    for (auto& one : formed) all.push_back(Communicator(std::make_unique<Impl>(std::move(one))));
    return all;
  });
}

Rank Communicator::rank() const noexcept {
  return impl_ ? impl_->communicator->identity().rank : Rank{};
}

std::uint32_t Communicator::size() const noexcept {
  return impl_ ? impl_->communicator->identity().size : 0;
}

std::uint32_t Communicator::hosts() const noexcept {
  return impl_ ? static_cast<std::uint32_t>(impl_->communicator->peer_table().hosts.size()) : 0;
}

// ---- Operations ---------------------------------------------------------------------------------

Status Communicator::AllReduce(SendBuffer send, ReceiveBuffer receive, ReduceOp op) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::AllReduceOf(send, receive, op));
}

Status Communicator::Reduce(SendBuffer send, ReceiveBuffer receive, ReduceOp op, Rank root) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::ReduceOf(send, receive, op, root));
}

Status Communicator::Broadcast(ReceiveBuffer data, Rank root) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::BroadcastOf(data, root));
}

Status Communicator::AllGather(SendBuffer send, ReceiveBuffer receive) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::AllGatherOf(send, receive));
}

Status Communicator::ReduceScatter(SendBuffer send, ReceiveBuffer receive, ReduceOp op) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::ReduceScatterOf(send, receive, op));
}

Status Communicator::AllToAll(SendBuffer send, ReceiveBuffer receive) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::AllToAllOf(send, receive));
}

Status Communicator::Scatter(SendBuffer send, ReceiveBuffer receive, Rank root) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::ScatterOf(send, receive, root));
}

Status Communicator::Gather(SendBuffer send, ReceiveBuffer receive, Rank root) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::GatherOf(send, receive, root));
}

Status Communicator::Send(SendBuffer data, Rank to) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::SendOf(data, to));
}

Status Communicator::Receive(ReceiveBuffer data, Rank from) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::ReceiveOf(data, from));
}

Status Communicator::Barrier() {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return RunOn(impl_->communicator, cxx::Request{});
}

// ---- Communicators made of this one -------------------------------------------------------------

Result<Communicator> Communicator::Split(std::optional<std::int32_t> color, std::int32_t key) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return comm::Caught([&]() -> Result<Communicator> {
    RINGLET_TRY_ASSIGN(auto formed, comm::Split(*impl_->communicator, color, key, {}));
    if (!formed) return Communicator();
    return Communicator(std::make_unique<Impl>(std::move(formed)));
  });
}

Result<Communicator> Communicator::Shrink(const std::vector<Rank>& excluded) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return comm::Caught([&]() -> Result<Communicator> {
    std::vector<std::uint32_t> ranks;
    for (const Rank rank : excluded) ranks.push_back(Index(rank));
    RINGLET_TRY_ASSIGN(auto formed, comm::Shrink(*impl_->communicator, std::move(ranks), {}));
    return Communicator(std::make_unique<Impl>(std::move(formed)));
  });
}

Result<Communicator> Communicator::Reform(std::uint32_t ranks_min) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return comm::Caught([&]() -> Result<Communicator> {
    RINGLET_TRY_ASSIGN(auto formed, comm::Reform(*impl_->communicator, ranks_min, {}));
    return Communicator(std::make_unique<Impl>(std::move(formed)));
  });
}

Result<UniqueId> Communicator::CreateGrowthId() {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return comm::Caught([&] { return comm::CreateGrowthId(*impl_->communicator); });
}

Result<Communicator> Communicator::Grow(std::uint32_t size, const std::optional<UniqueId>& id) {
  RINGLET_TRY(Impl::Check(impl_.get()));
  return comm::Caught([&]() -> Result<Communicator> {
    RINGLET_TRY_ASSIGN(auto formed, comm::Grow(*impl_->communicator, size, id, {}));
    return Communicator(std::make_unique<Impl>(std::move(formed)));
  });
}

// ---- The end ------------------------------------------------------------------------------------

void Communicator::Abort(const std::string& why) noexcept {
  if (!Impl::Check(impl_.get()).ok()) return;
  static_cast<void>(comm::Caught([&]() -> Status {
    impl_->communicator->Abort(why);
    static_cast<void>(impl_->communicator->control().AwaitFailure(kAbortMax));
    return Ok();
  }));
}

std::optional<Error> Communicator::failure() const {
  if (!impl_) return std::nullopt;
  if (const Status here = impl_->fork_guard.Check(); !here.ok()) return here.error();
  return impl_->communicator->failure();
}

Status Communicator::Destroy() {
  if (!impl_) return cxx::IsEmpty();
  const std::optional<Error> failed = failure();
  impl_.reset();
  if (failed) return *failed;
  return Ok();
}

}  // namespace ringlet
