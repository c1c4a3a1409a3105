#include "comm/service/service.hpp"

#include <algorithm>
#include <vector>

namespace ringlet::comm {

Result<std::unique_ptr<Service>> Service::Start(std::string name, os::Logger& logger) {
  std::unique_ptr<Service> service(new Service(std::move(name), logger));
  RINGLET_TRY_ASSIGN(service->driver_, os::SocketDriver::Create());
  RINGLET_TRY(service->StartThread({}));
  return service;
}

Result<std::unique_ptr<Service>> Service::Prepare(std::string name, os::Logger& logger,
                                                  std::function<void()> begin) {
  std::unique_ptr<Service> service(new Service(std::move(name), logger));
  RINGLET_TRY_ASSIGN(service->driver_,
                     os::SocketDriver::Create([raw = service.get(), begin = std::move(begin)] {
                       return raw->StartThread(begin);
                     }));
  return service;
}

Status Service::StartThread(const std::function<void()>& begin) {
  RINGLET_TRY_ASSIGN(thread_, os::StartThread("to serve control connections",
                                              [this, begin](const std::stop_token&) {
                                                os::BecomeServiceThread(name_.c_str());
                                                Begin();
                                                if (begin) begin();
                                                driver_->Run();
                                                near_memory_.reset();
                                              }));
  return Ok();
}

void Service::Begin() {
  {
    const std::lock_guard lock(places_mutex_);
    thread_id_ = std::this_thread::get_id();
  }
  MoveNear();
}

Service::~Service() {
  if (!thread_.joinable()) return;
  driver_->Post([this] { driver_->Stop(); });
  thread_.join();
}

void Service::RunNear(const topology::CpuSet& cpus, std::uint32_t numa_node) {
  {
    const std::lock_guard lock(places_mutex_);
    places_.push_back({cpus, numa_node});
    if (thread_id_ == std::thread::id()) return;  // the thread applies it when it begins
  }
  driver_->Post([this] { MoveNear(); });
}

void Service::MoveNear() {
  std::vector<Home> places;
  {
    const std::lock_guard lock(places_mutex_);
    // The thread has begun, but another thread still borrows the driver and is about to return it.
    if (thread_id_ != std::this_thread::get_id()) return driver_->Post([this] { MoveNear(); });
    places.swap(places_);
  }
  for (const Home& home : places) MoveNear(home);
}

void Service::MoveNear(const Home& home) {
  const bool first = near_.empty();
  near_ = near_.JoinedWith(home.cpus);
  const Status moved = os::RunOn(near_.ranges());
  if (!moved.ok())
    logger_.Log(LogLevel::kInfo, Subsystem::kInit, std::nullopt, moved.error().message);
  // With ranks on several nodes, shared data stays where it is first used.
  if (first) near_node_ = home.numa_node;
  if (near_node_ != home.numa_node) near_node_.reset();
  if (!near_node_) near_memory_.reset();
  if (near_node_ && !near_memory_) near_memory_.emplace(*near_node_);
}

std::shared_ptr<const void> Service::ReserveService() {
  ranks_->fetch_add(1);
  return {ranks_.get(), [ranks = ranks_](const void*) { ranks->fetch_sub(1); }};
}

std::size_t ThreadForNextRank(std::span<const std::uint32_t> ranks, std::size_t threads_max) {
  // Compares full blocks, so that most neighbouring ranks share a thread. They communicate the
  // most.
  const auto blocks = [](std::uint32_t count) { return count / kRanksOfAThread; };
  const auto least = std::ranges::min_element(ranks, {}, blocks);
  if (blocks(*least) > 0 && ranks.size() < threads_max) return ranks.size();
  return static_cast<std::size_t>(least - ranks.begin());
}

}  // namespace ringlet::comm
