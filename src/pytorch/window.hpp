// PyTorch's windows, since 2.15: a tensor of each rank into which others write without that rank's
// help. Included by module.cpp only.
#pragma once
#include "pytorch/shared_tensors.hpp"

#ifdef C10D_BACKEND_HAS_WINDOW

namespace ringlet::torch_api {

/// Window operations take turns with the group's other operations, in call order: a wait for a
/// signal delays later ones, as on a stream.
class TensorWindow final : public c10d::Window {
 public:
  explicit TensorWindow(c10::intrusive_ptr<RingletBackend> backend)
      : backend_(std::move(backend)) {}
  ~TensorWindow() override { Close(); }

  /// Takes any contiguous tensor. Peers write directly into one of ringlet.empty; the service
  /// thread, into others.
  void tensor_register(const at::Tensor& tensor, bool owning) override {
    TORCH_CHECK(!is_open_,
                "ringlet: double registration: this window already has a registered tensor; "
                "deregister it first");
    // A failed rank's peers may still be writing, so the tensor stays until the window is closed.
    (void)owning;
    backend_->launcher().RunNow("tensor_register", {tensor}, [&]() -> TurnBody {
      CheckTensor(tensor, "tensor_register");
      CheckWritten(tensor, "tensor_register");
      TORCH_CHECK(tensor.is_contiguous() && tensor.numel() > 0,
                  "ringlet: tensor_register takes a contiguous tensor that has elements");
      return [&](comm::Communicator& communicator, Milliseconds timeout) {
        return Open(communicator, tensor, timeout);
      };
    });
  }

  void tensor_deregister() override {
    CheckOpen("tensor_deregister");
    // After all ranks have arrived here, no rank writes into it.
    backend_->launcher().RunNow("tensor_deregister", {tensor_}, []() -> TurnBody {
      return [](comm::Communicator& communicator, Milliseconds timeout) {
        return Barrier(communicator, timeout);
      };
    });
    Close();
  }

  WorkPointer put(const at::Tensor& tensor, std::int64_t to, std::int64_t offset, bool async,
                  const c10d::PutOptions& opts) override {
    CheckOpen("put");
    CheckPeer(to, "put");
    CheckAlike({tensor}, tensor_, "put");
    const auto each = static_cast<std::uint64_t>(tensor_.element_size());
    const std::uint64_t bytes = bytes_[static_cast<std::size_t>(to)];
    TORCH_CHECK(offset >= 0 && static_cast<std::uint64_t>(offset) <= bytes / each &&
                    tensor.nbytes() <= bytes - static_cast<std::uint64_t>(offset) * each,
                "ringlet: put of ", tensor.numel(), " elements at ", offset,
                " exceeds the window size of rank ", to, ", which is ", bytes / each, " elements");
    const at::Tensor dense = Dense(tensor);
    comm::Put put{.peer = Rank{static_cast<std::uint32_t>(to)},
                  .from = BytesOf(dense),
                  .window = number_,
                  .offset = static_cast<std::uint64_t>(offset) * each,
                  .signal = SignalOf(kArrivals)};
    return Start("put", {dense, tensor_}, opts.timeout, async, std::move(put));
  }

  WorkPointer signal(std::int64_t to, bool async, const c10d::SignalOptions& opts) override {
    CheckOpen("signal");
    CheckPeer(to, "signal");
    return Start("signal", {tensor_}, opts.timeout, async,
                 comm::Put{.peer = Rank{static_cast<std::uint32_t>(to)},
                           .window = number_,
                           .signal = SignalOf(kSignals)});
  }

  WorkPointer wait_signal(std::int64_t from, bool async,
                          const c10d::WaitSignalOptions& opts) override {
    CheckOpen("wait_signal");
    CheckPeer(from, "wait_signal");
    comm::SignalWait wait;
    wait.counts.push_back(
        {.peer = Rank{static_cast<std::uint32_t>(from)}, .signal = SignalOf(kSignals)});
    return Start("wait_signal", {tensor_}, opts.timeout, async, std::move(wait));
  }

  /// Maps the tensor of a rank, with this rank's shape if the sizes are equal, else one dimension.
  at::Tensor map_remote_tensor(std::int64_t rank) override {
    CheckOpen("map_remote_tensor");
    CheckPeer(rank, "map_remote_tensor");
    if (rank == backend_->getRank()) return tensor_;
    const auto mapped = MapRank(labels_, static_cast<std::size_t>(rank));
    TORCH_CHECK(mapped.ok(), "ringlet: map_remote_tensor: ", mapped.error().message);
    const std::span<std::byte> bytes = (*mapped)->bytes();
    const bool alike = bytes.size() == tensor_.nbytes();
    const std::vector<std::int64_t> flat{static_cast<std::int64_t>(bytes.size()) /
                                         tensor_.element_size()};
    return at::from_blob(
        bytes.data(), alike ? tensor_.sizes() : at::IntArrayRef(flat), [mapped = *mapped](void*) {},
        tensor_.options());
  }

  c10d::WindowAttr get_attr(std::int64_t rank) override {
    CheckPeer(rank, "get_attr");
    return {};
  }

 private:
  // Signal contexts: those of the caller, and those of puts, which are ignored.
  static constexpr std::uint32_t kSignals = 0, kArrivals = 1;

  comm::Signal SignalOf(std::uint32_t context) const {
    return {.context = context, .number = number_ % comm::Signal::kNumbersMax};
  }

  Status Open(comm::Communicator& communicator, const at::Tensor& tensor, Milliseconds timeout) {
    RINGLET_TRY_ASSIGN(labels_, GatherLabels(communicator, BytesOf(tensor), timeout));
    const auto size = static_cast<std::int64_t>(communicator.identity().size);
    const at::Tensor facts = at::empty({size, 2}, at::kLong);
    const auto type = static_cast<std::int64_t>(tensor.scalar_type());
    const auto bytes = static_cast<std::int64_t>(tensor.nbytes());
    RINGLET_TRY(AllGather(communicator, at::tensor({bytes, type}, at::kLong), facts, timeout));
    const auto* fact = facts.const_data_ptr<std::int64_t>();
    bytes_.clear();
    for (std::int64_t rank = 0; rank < size; ++rank) {
      if (fact[2 * rank + 1] != type)
        return Error{Code::kInvalidArgument,
                     fmt::format("rank {} registers a tensor of another type than rank {}", rank,
                                 backend_->getRank())};
      bytes_.push_back(static_cast<std::uint64_t>(fact[2 * rank]));
    }
    RINGLET_TRY_ASSIGN(number_, communicator.one_sided().Open(RoomOf(tensor), 0));
    tensor_ = tensor;
    is_open_ = true;
    return Ok();
  }

  // Works in a failed group too, because its service thread could still write into the tensor.
  void Close() {
    if (!is_open_) return;
    is_open_ = false;
    backend_->life().InTurn([&](comm::Communicator* communicator) {
      if (communicator != nullptr) (void)communicator->one_sided().Close(number_);
    });
    tensor_ = at::Tensor();
  }

  WorkPointer Start(const char* name, const Tensors& tensors, Milliseconds timeout, bool async,
                    comm::Work work) {
    auto started = backend_->launcher().LaunchAlone(
        name, tensors, timeout, async,
        [tensors, work = std::move(work)](comm::Communicator& communicator, Milliseconds within) {
          communicator.set_timeout(within);
          return communicator.Run(work);
        });
    if (!async) started->wait();  // throws its error to the caller
    return started;
  }

  void CheckOpen(const char* operation) const {
    TORCH_CHECK(is_open_, "ringlet: ", operation,
                ": a tensor is not registered with this window; call tensor_register first");
  }
  void CheckPeer(std::int64_t rank, const char* operation) const {
    TORCH_CHECK_VALUE(rank >= 0 && rank < backend_->getSize(), "ringlet: ", operation, ": rank ",
                      rank, " is not between 0 and ", backend_->getSize() - 1);
  }

  const c10::intrusive_ptr<RingletBackend> backend_;
  bool is_open_ = false;
  at::Tensor tensor_;
  std::uint32_t number_ = 0;
  std::vector<std::uint64_t> bytes_;  // per rank
  Labels labels_;
};

inline c10::intrusive_ptr<c10d::Window> RingletBackend::new_window(
    const std::optional<at::Tensor>& tensor) {
  auto window = c10::make_intrusive<TensorWindow>(
      c10::intrusive_ptr<RingletBackend>::unsafe_reclaim_from_nonowning(this));
  if (tensor) window->tensor_register(*tensor, true);
  return window;
}

}  // namespace ringlet::torch_api

#endif
