// PyTorch's symmetric memory on CPUs: tensors that all ranks of a group on one host map. Included
// by module.cpp only.
//
// An allocation uses the memory of ringlet.empty, so that collectives do not copy it either. Its
// signal pad follows the tensor. Rendezvous is a collective of the group; each rank then maps the
// others' allocations by itself.
#pragma once
#include <c10/core/DeviceType.h>

#include <torch/csrc/distributed/c10d/symm_mem/SymmetricMemory.hpp>

#include "pytorch/calls/signal_pad.hpp"
#include "pytorch/operators.hpp"
#include "pytorch/shared_tensors.hpp"

namespace ringlet::torch_api {

namespace symm = c10d::symmetric_memory;

/// The allocation of a tensor: `bytes` for its elements, then the pad on its own page.
struct SymmetricAllocation {
  static constexpr std::size_t kPage = 4096;

  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  std::size_t pad_bytes = 0;

  std::size_t PadOffset() const { return (bytes + kPage - 1) / kPage * kPage; }
  std::size_t WholeBytes() const { return PadOffset() + pad_bytes; }
};

/// Memory of peers without a remaining handle. PyTorch's get_buffer returns tensors that do not own
/// their memory. A program that reads one too late reads zeros instead of crashing, because the
/// owner releases the pages and the addresses stay. Only the latest kMax are kept.
class RetiredMemory {
 public:
  static constexpr std::size_t kMax = 1024;

  static void Keep(std::vector<std::shared_ptr<comm::MappedMemory>> mapped) {
    static RetiredMemory& the = *new RetiredMemory;  // never destroyed: tensors outlive statics
    const std::lock_guard lock(the.mutex_);
    for (auto& each : mapped)
      if (each) the.kept_.push_back(std::move(each));
    while (the.kept_.size() > kMax) the.kept_.pop_front();
  }

 private:
  std::mutex mutex_;
  std::deque<std::shared_ptr<comm::MappedMemory>> kept_;
};

class CpuSymmetricMemory final : public symm::SymmetricMemory {
 public:
  struct Members {
    int rank = 0;
    std::chrono::milliseconds timeout{};  ///< default for waits
    std::stop_token ending;               ///< of the group
    std::size_t offset = 0;               ///< of the tensor in its allocation, bytes
    SymmetricAllocation own;
    Labels labels = {};
    std::vector<std::shared_ptr<comm::MappedMemory>> mapped = {};  ///< null: this rank's
  };
  explicit CpuSymmetricMemory(Members parts) : parts_(std::move(parts)) {
    for (const auto& mapped : parts_.mapped) {
      std::byte* const begin = mapped ? mapped->bytes().data() : parts_.own.begin;
      buffers_.push_back(begin);
      pads_.push_back(begin + parts_.own.PadOffset());
    }
  }

  ~CpuSymmetricMemory() override { RetiredMemory::Keep(std::move(parts_.mapped)); }

  std::vector<void*> get_buffer_ptrs() override { return buffers_; }
  std::vector<void*> get_signal_pad_ptrs() override { return pads_; }
  void** get_buffer_ptrs_dev() override { return buffers_.data(); }
  void** get_signal_pad_ptrs_dev() override { return pads_.data(); }
  std::size_t get_buffer_size() override { return parts_.own.bytes; }
  std::size_t get_offset() override { return parts_.offset; }
  bool has_multicast_support() override { return false; }
  void* get_multicast_ptr() override { return nullptr; }
  int get_rank() override { return parts_.rank; }
  int get_world_size() override { return static_cast<int>(buffers_.size()); }
  c10::Device get_device() override { return {c10::DeviceType::CPU}; }
  bool world_within_direct_access() override { return true; }

  /// Returns when all ranks have called it.
  void barrier(int channel, std::size_t timeout_ms) override {
    for (int rank = 0; rank < get_world_size(); ++rank)
      if (rank != parts_.rank) put_signal(rank, channel, timeout_ms);
    for (int rank = 0; rank < get_world_size(); ++rank)
      if (rank != parts_.rank) wait_signal(rank, channel, timeout_ms);
  }
  void put_signal(int to, int channel, std::size_t timeout_ms) override {
    const auto waiting = WaitingFor(to, channel, timeout_ms, "put_signal");
    Finish(RaiseSignal(Word(to, channel, parts_.rank), waiting), "put_signal");
  }
  void wait_signal(int from, int channel, std::size_t timeout_ms) override {
    const auto waiting = WaitingFor(from, channel, timeout_ms, "wait_signal");
    Finish(TakeSignal(Word(parts_.rank, channel, from), waiting), "wait_signal");
  }

 private:
  std::uint32_t& Word(int at, int channel, int from) const {
    const SignalPad pad{static_cast<std::uint32_t*>(pads_[static_cast<std::size_t>(at)]),
                        parts_.own.pad_bytes};
    return pad.Word(static_cast<std::uint32_t>(channel), static_cast<std::uint32_t>(from),
                    static_cast<std::uint32_t>(buffers_.size()));
  }

  SignalWaiting WaitingFor(int peer, int channel, std::size_t timeout_ms, const char* operation) {
    TORCH_CHECK_VALUE(peer >= 0 && peer < get_world_size(), "ringlet: ", operation, ": rank ", peer,
                      " is not between 0 and ", get_world_size() - 1);
    const SignalPad pad{nullptr, parts_.own.pad_bytes};
    TORCH_CHECK_VALUE(
        channel >= 0 && pad.Has(static_cast<std::uint32_t>(channel),
                                static_cast<std::uint32_t>(buffers_.size())),
        "ringlet: ", operation, ": the signal pad of ", pad.bytes, " bytes lacks channel ", channel,
        " for ", buffers_.size(),
        " ranks; torch.distributed._symmetric_memory.set_signal_pad_size sets a larger size");
    const auto timeout = timeout_ms == 0
                             ? parts_.timeout
                             : std::chrono::milliseconds(static_cast<std::int64_t>(timeout_ms));
    return {.timeout = timeout,
            .abort = parts_.ending,
            .why_in_vain = [this, peer] { return EndReasonOf(peer); },
            .what = fmt::format("rank {} of {} waited for rank {} on channel {}", parts_.rank,
                                buffers_.size(), peer, channel)};
  }

  std::string EndReasonOf(int peer) const {
    const auto process = SharedProcess();
    const auto& label = parts_.labels[static_cast<std::size_t>(peer)];
    if (!process.ok() || !comm::HasEnded(**process, *label)) return "";
    return fmt::format("its process {} has ended", label->pid);
  }

  static void Finish(const Status& status, const char* operation) {
    if (!status.ok())
      std::rethrow_exception(
          ToException(status.error(), fmt::format("ringlet: symmetric memory: {}", operation)));
  }

  Members parts_;
  std::vector<void*> buffers_, pads_;  // per rank
};

/// Any thread may call all functions.
class CpuSymmetricAllocator final : public symm::SymmetricMemoryAllocator {
 public:
  void* alloc(std::size_t bytes, int /*device*/,
              const std::optional<std::string>& group_name) override {
    SymmetricAllocation made{.bytes = bytes, .pad_bytes = symm::get_signal_pad_size()};
    TORCH_CHECK(bytes <= SIZE_MAX / 2, "ringlet: no memory for a tensor of ", bytes, " bytes");
    auto memory = TensorMemory::The().Allocate(made.WholeBytes());
    TORCH_CHECK(memory.ok(), "ringlet: no memory for a tensor of ", bytes,
                " bytes: ", memory.error().message);
    made.begin = *memory;
    std::memset(made.begin + made.PadOffset(), 0, made.pad_bytes);
    const std::lock_guard lock(mutex_);
    allocations_[made.begin] = {made, group_name, {}};
    return made.begin;
  }

  void free(void* memory) override {
    {
      const std::lock_guard lock(mutex_);
      if (allocations_.erase(static_cast<std::byte*>(memory)) == 0) return;
    }
    TensorMemory::The().Free(static_cast<const std::byte*>(memory));
  }

  std::size_t get_alloc_size(void* memory) override {
    const std::lock_guard lock(mutex_);
    const auto found = Find(memory);
    TORCH_CHECK(found != allocations_.end(), kNotOurs);
    return found->second.memory.bytes;
  }
  bool has_allocation(void* memory) {
    const std::lock_guard lock(mutex_);
    return Find(memory) != allocations_.end();
  }

  /// Called by all ranks of the group, in the same order as its other operations.
  c10::intrusive_ptr<symm::SymmetricMemory> rendezvous(
      void* memory, const std::optional<std::string>& group_name) override {
    SymmetricEntry allocation;
    {
      const std::lock_guard lock(mutex_);
      const auto found = Find(memory);
      if (found == allocations_.end()) return nullptr;  // PyTorch reports the wrong argument
      allocation = found->second;
    }
    const std::string name = group_name ? *group_name : allocation.group_name.value_or("");
    TORCH_CHECK_VALUE(!name.empty(), "ringlet: rendezvous needs the name of a process group");
    const auto offset =
        static_cast<std::size_t>(static_cast<std::byte*>(memory) - allocation.memory.begin);
    const auto key = std::pair(name, offset);
    if (const auto known = allocation.met.find(key); known != allocation.met.end())
      return known->second;
    auto made = MapForGroup(allocation.memory, offset, name);
    const std::lock_guard lock(mutex_);
    const auto found = Find(memory);
    if (found != allocations_.end()) found->second.met[key] = made;
    return made;
  }

  bool has_multicast_support(int /*device*/) override { return false; }
  c10::DeviceType supported_device_type() override { return c10::DeviceType::CPU; }
  std::string name() override { return "RINGLET"; }

 private:
  static constexpr const char* kNotOurs = "ringlet: the memory is not symmetric memory of Ringlet";
  using MappedByGroup = std::map<std::pair<std::string, std::size_t>,  // by group and offset
                                 c10::intrusive_ptr<symm::SymmetricMemory>>;
  struct SymmetricEntry {
    SymmetricAllocation memory;
    std::optional<std::string> group_name;
    MappedByGroup met;
  };

  std::map<std::byte*, SymmetricEntry>::iterator Find(void* memory) {
    auto* const at = static_cast<std::byte*>(memory);
    auto after = allocations_.upper_bound(at);
    if (after == allocations_.begin()) return allocations_.end();
    const auto found = std::prev(after);
    const auto offset = static_cast<std::size_t>(at - found->first);
    return offset < std::max<std::size_t>(found->second.memory.bytes, 1) ? found
                                                                         : allocations_.end();
  }

  static c10::intrusive_ptr<symm::SymmetricMemory> MapForGroup(const SymmetricAllocation& own,
                                                               std::size_t offset,
                                                               const std::string& group_name) {
    const auto backend = BackendOf(group_name);
    CpuSymmetricMemory::Members parts{.rank = backend->getRank(),
                                      .timeout = backend->life().UsableGroup().timeout(),
                                      .ending = backend->life().UsableGroup().ending(),
                                      .offset = offset,
                                      .own = own};
    backend->launcher().RunNow("rendezvous", {}, [&]() -> TurnBody {
      return [&](comm::Communicator& communicator, Milliseconds timeout) {
        return MapAll(communicator, parts, timeout);
      };
    });
    return c10::make_intrusive<CpuSymmetricMemory>(std::move(parts));
  }

  // Either all ranks succeed, or none does.
  static Status MapAll(comm::Communicator& communicator, CpuSymmetricMemory::Members& parts,
                       Milliseconds timeout) {
    const View whole(parts.own.begin, parts.own.WholeBytes());
    RINGLET_TRY_ASSIGN(parts.labels, GatherLabels(communicator, whole, timeout));
    Status mapped = Ok();
    for (std::size_t rank = 0; rank < parts.labels.size() && mapped.ok(); ++rank)
      mapped = MapOne(parts, rank);
    const at::Tensor all_mapped = at::full({1}, mapped.ok() ? 1 : 0, at::kInt);
    TensorReduction least(all_mapped, c10d::ReduceOp(c10d::ReduceOp::MIN));
    RINGLET_TRY(AllReduce(communicator, all_mapped, all_mapped, least, timeout));
    RINGLET_TRY(mapped);
    if (all_mapped.item<int>() == 1) return Ok();
    return Error{Code::kInvalidArgument,
                 "another rank cannot map the memory of all ranks; see its error"};
  }

  static Status MapOne(CpuSymmetricMemory::Members& parts, std::size_t rank) {
    const auto& label = parts.labels[rank];
    if (label && label->bytes != parts.own.WholeBytes())
      return Error{Code::kInvalidArgument,
                   fmt::format("rank {} has {} bytes of memory and signal pad, but rank {} has {}: "
                               "all ranks must allocate tensors of one size",
                               rank, label->bytes, parts.rank, parts.own.WholeBytes())};
    parts.mapped.emplace_back();
    if (std::cmp_equal(rank, parts.rank)) return Ok();
    RINGLET_TRY_ASSIGN(parts.mapped.back(), MapRank(parts.labels, rank));
    return Ok();
  }

  std::mutex mutex_;
  std::map<std::byte*, SymmetricEntry> allocations_;  // by address
};

/// Registers this implementation of PyTorch's symmetric memory on CPUs, unless another is
/// registered.
inline void OfferSymmetricMemory() {
  if (!symm::has_allocator(c10::DeviceType::CPU))
    symm::register_allocator(c10::DeviceType::CPU, c10::make_intrusive<CpuSymmetricAllocator>());
}

}  // namespace ringlet::torch_api
