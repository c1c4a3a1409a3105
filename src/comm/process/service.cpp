#include "comm/process/service.hpp"

#include <algorithm>
#include <vector>

namespace ringlet::comm {

Result<std::unique_ptr<Service>> Service::Start(std::string name, os::Logger& logger) {
  RINGLET_TRY_ASSIGN(auto driver, os::SocketDriver::Create());
  std::unique_ptr<Service> service(new Service(logger, std::move(driver)));
  RINGLET_TRY_ASSIGN(
      service->thread_,
      os::StartThread("to serve control connections",
                      [raw = service.get(), name = std::move(name)](const std::stop_token&) {
                        os::BecomeServiceThread(name.c_str());
                        raw->driver_->Run();
                        raw->near_memory_.reset();
                      }));
  return service;
}

Service::Service(os::Logger& logger, std::unique_ptr<os::SocketDriver> driver)
    : logger_(logger), driver_(std::move(driver)) {}

Service::~Service() {
  if (!thread_.joinable()) return;
  driver_->Post([this] { driver_->Stop(); });
  thread_.join();
}

void Service::RunNear(const topology::CpuSet& cpus, std::uint32_t numa_node) {
  driver_->Post([this, cpus, numa_node] {
    const bool first = near_.empty();
    near_ = near_.JoinedWith(cpus);
    const Status moved = os::RunOn(near_.ranges());
    if (!moved.ok())
      logger_.Log(LogLevel::kInfo, Subsystem::kInit, std::nullopt, moved.error().message);
    // Data that several ranks share lie where they are used first.
    if (first) near_node_ = numa_node;
    if (near_node_ != numa_node) near_node_.reset();
    if (!near_node_) near_memory_.reset();
    if (near_node_ && !near_memory_) near_memory_.emplace(*near_node_);
  });
}

std::shared_ptr<const void> Service::TakeSeat() {
  ranks_->fetch_add(1);
  return {ranks_.get(), [ranks = ranks_](const void*) { ranks->fetch_sub(1); }};
}

std::size_t ThreadForNextRank(std::span<const std::uint32_t> ranks, std::size_t threads_max) {
  // By the block, so that ranks next to each other, which have most to say to each other, are
  // mostly on one thread.
  const auto blocks = [](std::uint32_t count) { return count / kRanksOfAThread; };
  const auto least = std::ranges::min_element(ranks, {}, blocks);
  if (blocks(*least) > 0 && ranks.size() < threads_max) return ranks.size();
  return static_cast<std::size_t>(least - ranks.begin());
}

}  // namespace ringlet::comm
