#include "pytorch/tensors/tensor_memory.hpp"

#include <pthread.h>

#include <algorithm>
#include <iterator>

namespace ringlet::torch_api {
namespace {

// Rounds sizes, so that allocations of similar size reuse each other's memory.
constexpr std::size_t kGrainBytes = 64 * 1024;

std::size_t Rounded(std::size_t bytes) {
  return bytes > SIZE_MAX - kGrainBytes ? bytes
                                        : (bytes + kGrainBytes - 1) / kGrainBytes * kGrainBytes;
}

}  // namespace

TensorMemory& TensorMemory::The() {
  static std::atomic<TensorMemory*> the = [] {
    // A thread that the child lacks may hold the lock of the parent's instance.
    ::pthread_atfork(nullptr, nullptr, [] { the = new TensorMemory; });
    return new TensorMemory;
  }();
  return *the;
}

Result<std::byte*> TensorMemory::Allocate(std::size_t bytes) {
  RINGLET_TRY_ASSIGN(auto process, SharedProcess());
  const std::size_t whole = Rounded(bytes);
  if (std::byte* const kept = TakeKept(whole, *process)) return kept;
  // Without the lock, because it takes long, and operations of other groups query the allocations.
  RINGLET_TRY_ASSIGN(std::byte* const begin, process->heap().Allocate(whole));
  const std::lock_guard lock(mutex_);
  allocations_.emplace(begin, Allocation{begin, whole, std::move(process)});
  count_ = allocations_.size();
  return begin;
}

std::byte* TensorMemory::TakeKept(std::size_t bytes, const comm::Process& process) {
  const std::lock_guard lock(mutex_);
  const auto kept = std::ranges::find_if(kept_, [&](const std::byte* begin) {
    const Allocation& allocation = allocations_.at(begin);
    return allocation.bytes == bytes && allocation.process.get() == &process;
  });
  if (kept == kept_.end()) return nullptr;
  std::byte* const begin = allocations_.at(*kept).begin;
  kept_.erase(kept);
  kept_bytes_ -= bytes;
  return begin;
}

void TensorMemory::Free(const std::byte* memory) {
  const std::lock_guard lock(mutex_);
  if (allocations_.count(memory) != 0) KeepOrDrop(memory);
}

void TensorMemory::KeepOrDrop(const std::byte* begin) {
  const std::size_t bytes = allocations_.at(begin).bytes;
  if (bytes > kKeptBytesMax) return Drop(begin);
  while (kept_.size() == kKeptMax || kept_bytes_ + bytes > kKeptBytesMax) DropOldest();
  kept_.push_back(begin);
  kept_bytes_ += bytes;
}

void TensorMemory::DropOldest() {
  const std::byte* const oldest = kept_.front();
  kept_.pop_front();
  kept_bytes_ -= allocations_.at(oldest).bytes;
  Drop(oldest);
}

void TensorMemory::Trim() {
  const std::lock_guard lock(mutex_);
  while (!kept_.empty()) DropOldest();
}

void TensorMemory::Drop(const std::byte* begin) {
  for (Announcements* const each : announcements_) each->Withdraw(begin);
  const auto found = allocations_.find(begin);
  // `begin` is an allocation, and no group has it registered any more.
  (void)found->second.process->heap().Free(begin);
  allocations_.erase(found);
  count_ = allocations_.size();
}

std::map<const std::byte*, TensorMemory::Allocation>::const_iterator TensorMemory::Find(
    View memory) const {
  const auto after = allocations_.upper_bound(memory.data());
  if (after == allocations_.begin()) return allocations_.end();
  const auto found = std::prev(after);
  const auto offset = static_cast<std::size_t>(memory.data() - found->first);
  const std::size_t bytes = found->second.bytes;
  return offset <= bytes && memory.size() <= bytes - offset ? found : allocations_.end();
}

bool TensorMemory::Has(View memory) const {
  if (count_ == 0) return false;
  const std::lock_guard lock(mutex_);
  return Find(memory) != allocations_.end();
}

std::size_t TensorMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const auto& [begin, allocation] : allocations_) sum += allocation.bytes;
  return sum;
}

std::size_t TensorMemory::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

Announcements::Announcements() {
  TensorMemory& memory = TensorMemory::The();
  const std::lock_guard lock(memory.mutex_);
  memory.announcements_.insert(this);
}

Announcements::~Announcements() {
  TensorMemory& memory = TensorMemory::The();
  const std::lock_guard lock(memory.mutex_);
  memory.announcements_.erase(this);
  while (!known_.empty()) Withdraw(known_.begin()->first);
}

void Announcements::EnsureRegistered(comm::Communicator& communicator, View memory) {
  TensorMemory& all = TensorMemory::The();
  const std::lock_guard lock(all.mutex_);
  const auto found = all.Find(memory);
  if (found == all.allocations_.end() || known_.count(found->first) != 0) return;
  communicator_ = &communicator;
  const auto registered = communicator.one_sided().Register({found->first, found->second.bytes});
  if (registered.ok()) known_.emplace(found->first, *registered);
}

void Announcements::Withdraw(const std::byte* begin) {
  const auto known = known_.find(begin);
  if (known == known_.end()) return;
  (void)communicator_->one_sided().Deregister(known->second);
  known_.erase(known);
}

}  // namespace ringlet::torch_api
