#include "memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace ringlet::model {
namespace {

// Avoids memcpy, because its calls are watched.
std::uint64_t ValueAt(const void* address, std::uint32_t bytes) {
  switch (bytes) {
    case 1: return *static_cast<const volatile std::uint8_t*>(address);
    case 2: return *static_cast<const volatile std::uint16_t*>(address);
    case 4: return *static_cast<const volatile std::uint32_t*>(address);
    default: return *static_cast<const volatile std::uint64_t*>(address);
  }
}

void PutAt(void* address, std::uint32_t bytes, std::uint64_t value) {
  switch (bytes) {
    case 1: *static_cast<volatile std::uint8_t*>(address) = static_cast<std::uint8_t>(value); break;
    case 2:
      *static_cast<volatile std::uint16_t*>(address) = static_cast<std::uint16_t>(value);
      break;
    case 4:
      *static_cast<volatile std::uint32_t*>(address) = static_cast<std::uint32_t>(value);
      break;
    default: *static_cast<volatile std::uint64_t*>(address) = value;
  }
}

}  // namespace

// ---- what is looked at --------------------------------------------------------------------------

void Memory::Share(const std::string& name, const void* begin, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  ranges_.push_back({name, at, at + bytes, std::vector<Shadow>(bytes)});
  lowest_ = std::min(lowest_, at);
  highest_ = std::max(highest_, at + bytes);
}

void Memory::Name(const std::string& name, const void* begin, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  names_.push_back({name, at, at + bytes, {}});
}

void Memory::Forget() {
  ranges_.clear();
  names_.clear();
  locations_.clear();
  lowest_ = UINTPTR_MAX;
  highest_ = 0;
}

const Memory::Range* Memory::RangeOf(std::uintptr_t at) const {
  for (const Range& range : ranges_)
    if (at >= range.begin && at < range.end) return &range;
  return nullptr;
}

// Returns the smallest named range that covers it.
std::string Memory::NameOf(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const Range* best = RangeOf(at);
  for (const Range& name : names_)
    if (at >= name.begin && at < name.end &&
        (!best || name.end - name.begin < best->end - best->begin))
      best = &name;
  if (!best) return "a lock";
  return at == best->begin ? best->name : fmt::format("{} + {}", best->name, at - best->begin);
}

void Memory::Begin() {
  ++execution_;
  threads_ = {};
  before_.clear();
}

Location& Memory::At(const void* address, std::uint32_t bytes) {
  auto& found = locations_[reinterpret_cast<std::uintptr_t>(address)];
  if (!found) found = std::make_unique<Location>();
  if (found->execution == execution_) return *found;
  Location& fresh = *found;
  fresh.execution = execution_;
  fresh.address = address;
  fresh.bytes = bytes;
  fresh.stores.clear();
  fresh.stores.push_back({.value = ValueAt(address, bytes), .view = {}, .past = {}});
  for (auto& seen : fresh.seen) seen.clear();
  fresh.ordered.clear();
  fresh.accesses.clear();
  fresh.writes = {};
  fresh.sleepers = fresh.sharers = 0;
  fresh.held = fresh.ready = false;
  return fresh;
}

void Memory::Tick(Thread thread) {
  ThreadState& state = threads_[thread];
  ++state.known.at[thread];
  state.past.at[thread] = state.known.at[thread];
}

// ---- loads --------------------------------------------------------------------------------------

// Returns the first readable store: an event that happens before has written or read it.
std::uint32_t Memory::Floor(Thread thread, const Location& location) const {
  std::uint32_t floor = 0;
  for (Thread other = 0; other < kThreadsMax; ++other) {
    const auto& seen = location.seen[other];
    const std::uint32_t known = threads_[thread].known.at[other];
    for (auto it = seen.rbegin(); it != seen.rend(); ++it) {
      if (it->clock > known) continue;
      floor = std::max(floor, it->index);
      break;
    }
  }
  return floor;
}

// Returns the operations that precede an access to `index` in the single order of sequentially
// consistent operations.
Memory::Nodes Memory::NodesBefore(Thread thread, const Location& location, std::uint32_t index,
                                  bool writes) const {
  Nodes nodes;
  for (Thread other = 0; other < kThreadsMax; ++other) {
    const auto& theirs = threads_[other].nodes;
    const std::uint32_t known = threads_[thread].known.at[other];
    for (auto it = theirs.rbegin(); it != theirs.rend(); ++it) {
      if (it->first > known) continue;
      nodes |= before_[it->second];
      nodes.set(it->second);
      break;
    }
  }
  for (const Location::Ordered& one : location.ordered) {
    if (!writes && (one.writes ? one.index > index : one.index >= index)) continue;
    nodes |= before_[one.node];
    nodes.set(one.node);
  }
  return nodes;
}

// Returns true if a load may be in the single order before all later stores than `index`.
bool Memory::OrderHolds(Thread thread, const Location& location, std::uint32_t index) const {
  if (location.ordered.empty() || index + 1 == location.stores.size()) return true;
  const Nodes before = NodesBefore(thread, location, index, false);
  return std::ranges::none_of(location.ordered, [&](const Location::Ordered& one) {
    return one.index > index && before.test(one.node);
  });
}

void Memory::AddNode(Thread thread, Location& location, std::uint32_t index, bool writes) {
  const auto node = static_cast<std::uint32_t>(before_.size());
  if (node == kNodesMax) std::abort();  // the explorer limits steps to fewer
  Nodes before = NodesBefore(thread, location, index, writes);
  before_.push_back(before);
  before.set(node);
  for (const Location::Ordered& one : location.ordered) {
    if (writes || one.index <= index) continue;
    for (std::uint32_t later = 0; later < node; ++later)
      if (later == one.node || before_[later].test(one.node)) before_[later] |= before;
  }
  location.ordered.push_back({node, index, writes});
  threads_[thread].nodes.emplace_back(threads_[thread].known.at[thread], node);
}

void Memory::Readable(Thread thread, const Location& location, Order order, std::uint32_t from,
                      std::vector<std::uint32_t>& indices) const {
  indices.clear();
  const std::uint32_t floor = std::max(from, Floor(thread, location));
  for (auto index = static_cast<std::uint32_t>(location.stores.size()); index-- > floor;)
    if (order != Order::kSeqCst || OrderHolds(thread, location, index)) indices.push_back(index);
}

void Memory::ReadFrom(Thread thread, const Location::Store& store, Order order) {
  ThreadState& state = threads_[thread];
  (Acquires(order) ? state.known : state.unfenced).Join(store.view);
  state.past.Join(store.past);
}

std::uint64_t Memory::Read(Thread thread, Location& location, std::uint32_t index, Order order) {
  if (order == Order::kSeqCst) AddNode(thread, location, index, false);
  location.seen[thread].push_back({threads_[thread].known.at[thread], index});
  ReadFrom(thread, location.stores[index], order);
  return location.stores[index].value;
}

// ---- stores -------------------------------------------------------------------------------------

void Memory::Append(Thread thread, Location& location, std::uint64_t value, Order order,
                    const Clock* carried) {
  const ThreadState& state = threads_[thread];
  Location::Store store{value, Releases(order) ? state.known : state.fenced, state.past};
  if (carried) store.view.Join(*carried);
  location.seen[thread].push_back(
      {state.known.at[thread], static_cast<std::uint32_t>(location.stores.size())});
  location.stores.push_back(store);
  PutAt(const_cast<void*>(location.address), location.bytes, value);
}

void Memory::Write(Thread thread, Location& location, std::uint64_t value, Order order) {
  const auto index = static_cast<std::uint32_t>(location.stores.size());
  if (order == Order::kSeqCst) AddNode(thread, location, index, true);
  Append(thread, location, value, order, nullptr);
}

void Memory::ReadAndWrite(Thread thread, Location& location, std::uint64_t value, Order order) {
  const auto index = static_cast<std::uint32_t>(location.stores.size());
  if (order == Order::kSeqCst) AddNode(thread, location, index, true);
  const Location::Store last = location.stores.back();
  ReadFrom(thread, last, order);
  Append(thread, location, value, order, &last.view);
}

void Memory::Fence(Thread thread, Order order) {
  if (order == Order::kSeqCst) std::abort();  // neither modelled nor used
  ThreadState& state = threads_[thread];
  if (Acquires(order)) state.known.Join(state.unfenced);
  if (Releases(order)) state.fenced = state.known;
}

void Memory::Leave(Thread thread, Location& lock) {
  lock.stores.back().view.Join(threads_[thread].known);
  lock.stores.back().past.Join(threads_[thread].past);
}

void Memory::Enter(Thread thread, const Location& lock) {
  threads_[thread].known.Join(lock.stores.back().view);
  threads_[thread].past.Join(lock.stores.back().past);
}

// ---- what is not atomic -------------------------------------------------------------------------

std::string Memory::Plain(Thread thread, const void* address, std::size_t bytes, bool writes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  auto* const range = const_cast<Range*>(RangeOf(begin));
  if (!range) return "";
  const Clock& known = threads_[thread].known;
  const std::uint32_t now = known.at[thread] + 1;  // belongs to the next event
  for (std::uintptr_t at = begin; at < std::min(begin + bytes, range->end); ++at) {
    Shadow& shadow = range->shadows[at - range->begin];
    if (shadow.execution != execution_) shadow = Shadow{.execution = execution_};
    const auto say = [&](Thread other, const char* did) {
      return fmt::format("data race: rank {} {} {} which rank {} {}, and nothing orders the two",
                         thread, writes ? "writes" : "reads",
                         NameOf(reinterpret_cast<const void*>(at)), other, did);
    };
    if (shadow.writer < kThreadsMax && shadow.writer != thread &&
        shadow.written > known.at[shadow.writer])
      return say(shadow.writer, "wrote");
    for (Thread other = 0; other < kThreadsMax && writes; ++other)
      if (other != thread && shadow.read[other] > known.at[other]) return say(other, "reads");
    if (writes) {
      shadow.writer = thread;
      shadow.written = now;
    } else {
      shadow.read[thread] = now;
    }
  }
  return "";
}

}  // namespace ringlet::model
