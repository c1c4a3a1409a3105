// Operations on tensors as calls of a communicator. Included by module.cpp only.
//
// All of them run in a turn of their group and block until this rank's part is done. They take
// dense tensors unless stated otherwise.
#pragma once
#include "collective/call/call.hpp"
#include "comm/run/calls.hpp"
#include "pytorch/calls/p2p_queue.hpp"
#include "pytorch/tensors/tensors.hpp"

namespace ringlet::torch_api {

using Milliseconds = std::chrono::milliseconds;

/// A communicator of two ranks as the line between a sender and a receiver.
class CommunicatorLine final : public PairLink {
 public:
  explicit CommunicatorLine(std::unique_ptr<comm::Communicator> communicator)
      : communicator_(std::move(communicator)), peer_{1 - Index(communicator_->identity().rank)} {}

  Status Write(View bytes) override {
    return comm::Send(*communicator_, peer_, bytes, bytes.size(), DataType::kUint8);
  }
  Status Read(std::span<std::byte> room) override {
    return comm::Receive(*communicator_, peer_, room, room.size(), DataType::kUint8);
  }
  void Abort(const std::string& why) override { communicator_->Abort(why); }

 private:
  const std::unique_ptr<comm::Communicator> communicator_;
  const Rank peer_;
};

inline MakeLine LinesWithin(Milliseconds init_timeout) {
  return [init_timeout](const UniqueId& id, std::uint32_t pair_rank, Milliseconds timeout,
                        const std::stop_token& abort) -> Result<std::shared_ptr<PairLink>> {
    RINGLET_TRY_ASSIGN(const auto process, SharedProcess());
    comm::Config config;
    config.id = id;
    config.rank = pair_rank;
    config.size = 2;
    config.init_timeout = init_timeout;
    config.timeout = timeout;
    config.expects_one_host = true;
    RINGLET_TRY_ASSIGN(auto formed, comm::Establish(process, config, abort));
    return std::shared_ptr<PairLink>(std::make_shared<CommunicatorLine>(std::move(formed)));
  };
}

/// A reduction for an element type, checked on the caller's thread.
struct TensorReduction {
  TensorReduction(const at::Tensor& tensor, const c10d::ReduceOp& torch_op)
      : type(TypeOf(tensor.is_complex() ? c10::toRealValueType(tensor.scalar_type())
                                        : tensor.scalar_type())),
        op(OpOf(torch_op)) {
    TORCH_CHECK(!tensor.is_complex() || op == ReduceOp::kSum || op == ReduceOp::kAvg ||
                    op == ReduceOp::kPreMulSum,
                "ringlet: complex numbers support only SUM, AVG and PREMUL_SUM");
    TORCH_CHECK(Reduces(op, type), "ringlet: ", std::string(Name(op)), " does not exist for ",
                tensor.scalar_type());
    if (op == ReduceOp::kPreMulSum)
      factor = at::full({1}, FactorOf(torch_op), at::TensorOptions(RealTypeOf(tensor)));
  }

  DataType type;
  ReduceOp op;
  at::Tensor factor;  ///< for kPreMulSum: one element

 private:
  static at::ScalarType RealTypeOf(const at::Tensor& tensor) {
    return c10::toRealValueType(tensor.scalar_type());
  }
};

/// The type for moving elements: Ringlet's type if it exists, otherwise bytes.
struct Moved {
  explicit Moved(const at::Tensor& tensor) {
    const auto known = KnownType(tensor.scalar_type());
    type = known.value_or(DataType::kUint8);
    per_element = known ? 1 : static_cast<std::size_t>(tensor.element_size());
  }
  std::size_t Count(std::int64_t elements) const {
    return static_cast<std::size_t>(elements) * per_element;
  }

  DataType type;
  std::size_t per_element;
};

inline collective::Call Reducing(const TensorReduction& reduction, View input,
                                 std::span<std::byte> output, std::size_t bytes) {
  collective::Call call;
  call.input = input;
  call.output = output;
  call.count = bytes / SizeOf(reduction.type);
  call.type = reduction.type;
  call.op = reduction.op;
  if (reduction.factor.defined()) call.scalar = collective::Scalar(BytesOf(reduction.factor));
  return call;
}

/// `input` and `output` may be the same tensor.
inline Status AllReduce(comm::Communicator& communicator, const at::Tensor& input,
                        const at::Tensor& output, const TensorReduction& reduction,
                        Milliseconds timeout) {
  communicator.set_timeout(timeout);
  return AllReduce(communicator,
                   Reducing(reduction, BytesOf(input), RoomOf(output), input.nbytes()));
}

/// Reduces in place at the root. The tensors of other ranks are unchanged.
inline Status Reduce(comm::Communicator& communicator, const at::Tensor& tensor,
                     const TensorReduction& reduction, std::int64_t root, Milliseconds timeout) {
  communicator.set_timeout(timeout);
  const bool is_root = static_cast<std::int64_t>(Index(communicator.identity().rank)) == root;
  collective::Call call =
      Reducing(reduction, BytesOf(tensor), is_root ? RoomOf(tensor) : std::span<std::byte>(),
               tensor.nbytes());
  call.root = Rank{static_cast<std::uint32_t>(root)};
  return Reduce(communicator, call);
}

inline Status Broadcast(comm::Communicator& communicator, const at::Tensor& tensor,
                        std::int64_t root, Milliseconds timeout) {
  communicator.set_timeout(timeout);
  const Moved moved(tensor);
  return Broadcast(communicator, {.input = BytesOf(tensor),
                                  .output = RoomOf(tensor),
                                  .count = moved.Count(tensor.numel()),
                                  .type = moved.type,
                                  .root = Rank{static_cast<std::uint32_t>(root)}});
}

/// `output` receives the elements of all ranks. `input` may be this rank's part of it.
inline Status AllGather(comm::Communicator& communicator, const at::Tensor& input,
                        const at::Tensor& output, Milliseconds timeout) {
  communicator.set_timeout(timeout);
  const Moved moved(input);
  return AllGather(communicator, {.input = BytesOf(input),
                                  .output = RoomOf(output),
                                  .count = moved.Count(input.numel()),
                                  .type = moved.type});
}

/// \param room  undefined on ranks other than the root
inline Status Gather(comm::Communicator& communicator, const at::Tensor& input,
                     const at::Tensor& room, std::int64_t root, Milliseconds timeout) {
  communicator.set_timeout(timeout);
  const Moved moved(input);
  return Gather(communicator, {.input = BytesOf(input),
                               .output = room.defined() ? RoomOf(room) : std::span<std::byte>(),
                               .count = moved.Count(input.numel()),
                               .type = moved.type,
                               .root = Rank{static_cast<std::uint32_t>(root)}});
}

/// \param joint  undefined on ranks other than the root
inline Status Scatter(comm::Communicator& communicator, const at::Tensor& joint,
                      const at::Tensor& room, std::int64_t root, Milliseconds timeout) {
  communicator.set_timeout(timeout);
  const Moved moved(room);
  return Scatter(communicator, {.input = joint.defined() ? BytesOf(joint) : View(),
                                .output = RoomOf(room),
                                .count = moved.Count(room.numel()),
                                .type = moved.type,
                                .root = Rank{static_cast<std::uint32_t>(root)}});
}

inline Status Barrier(comm::Communicator& communicator, Milliseconds timeout) {
  communicator.set_timeout(timeout);
  return Barrier(communicator);
}

/// Number of elements to or from each rank.
class Splits {
 public:
  /// Converts PyTorch's lengths along the first dimension; empty means equal parts.
  Splits(const at::Tensor& tensor, const std::vector<std::int64_t>& lengths, int size) {
    const std::int64_t rows = lengths.empty() ? size : tensor.size(0);
    const std::int64_t per_row = rows == 0 ? 0 : tensor.numel() / rows;
    for (int rank = 0; rank < size; ++rank)
      elements_.push_back((lengths.empty() ? 1 : lengths[static_cast<std::size_t>(rank)]) *
                          per_row);
  }
  explicit Splits(const Tensors& tensors) {
    for (const at::Tensor& tensor : tensors) elements_.push_back(tensor.numel());
  }

  std::int64_t Elements(int rank) const { return elements_[static_cast<std::size_t>(rank)]; }
  comm::Portions Portions(const Moved& moved) const {
    comm::Portions portions;
    std::size_t offset = 0;
    for (const std::int64_t count : elements_) {
      portions.counts.push_back(moved.Count(count));
      portions.displacements.push_back(offset);
      offset += moved.Count(count);
    }
    return portions;
  }

 private:
  std::vector<std::int64_t> elements_;
};

/// Always uses the variable-length all-to-all, because other ranks may have unequal splits.
inline Status AllToAll(comm::Communicator& communicator, const at::Tensor& input,
                       const Splits& sends, const at::Tensor& output, const Splits& receives,
                       Milliseconds timeout) {
  communicator.set_timeout(timeout);
  const Moved moved(input);
  return AllToAllV(communicator, {.input = BytesOf(input),
                                  .output = RoomOf(output),
                                  .sent = sends.Portions(moved),
                                  .received = receives.Portions(moved),
                                  .type = moved.type});
}

/// Takes tensors of any layout. `input` may be this rank's part of `output`.
inline Status GatherInto(comm::Communicator& communicator, const at::Tensor& input,
                         const at::Tensor& output, Milliseconds timeout) {
  const at::Tensor room = Room(output);
  RINGLET_TRY(AllGather(communicator, Dense(input), room, timeout));
  Deliver(room, output);
  return Ok();
}

/// Takes one target per rank, of any layout and of different sizes.
inline Status GatherToLists(comm::Communicator& communicator, const at::Tensor& input,
                            const Tensors& targets, Milliseconds timeout) {
  const bool equal = std::ranges::all_of(
      targets, [&](const at::Tensor& target) { return target.numel() == input.numel(); });
  const at::Tensor dense = Dense(input);
  if (equal) {
    const at::Tensor room = JointRoom(targets);
    RINGLET_TRY(AllGather(communicator, dense, room, timeout));
    Share(room, targets);
    return Ok();
  }
  for (std::size_t rank = 0; rank < targets.size(); ++rank) {
    const bool own = rank == Index(communicator.identity().rank);
    const at::Tensor room = own ? dense : Room(targets[rank]);
    RINGLET_TRY(Broadcast(communicator, room, static_cast<std::int64_t>(rank), timeout));
    Deliver(room, targets[rank]);
  }
  return Ok();
}

/// Compares size and type of each rank's block with those of the root. All ranks of a large scatter
/// call it before data move, so that all of them report a difference. It gathers 16 elements of a
/// rare type, so that a rank in another collective is reported as well.
inline Status CompareBlocks(comm::Communicator& communicator, const at::Tensor& room,
                            std::int64_t root, Milliseconds timeout) {
  struct Block {
    std::uint64_t bytes;
    std::uint64_t type;
    bool operator==(const Block&) const = default;
  };
  const Block mine{room.nbytes(), static_cast<std::uint64_t>(room.scalar_type())};
  std::vector<Block> blocks(communicator.identity().size);
  communicator.set_timeout(timeout);
  Status gathered = AllGather(communicator, {.input = std::as_bytes(std::span(&mine, 1)),
                                             .output = std::as_writable_bytes(std::span(blocks)),
                                             .count = sizeof mine,
                                             .type = DataType::kFloat8e5m2});
  if (!gathered.ok() && gathered.error().code == Code::kProtocol) {
    Error error = gathered.error();
    error.message += "; a scatter of large tensors begins with this all_gather";
    return error;
  }
  RINGLET_TRY(gathered);
  const Block& wanted = blocks[static_cast<std::size_t>(root)];
  const auto text = [](const Block& block) {
    return fmt::format("{} bytes of {}", block.bytes,
                       c10::toString(static_cast<at::ScalarType>(block.type)));
  };
  for (std::size_t rank = 0; rank < blocks.size(); ++rank)
    if (blocks[rank] != wanted)
      return Error{Code::kProtocol,
                   fmt::format("the ranks call scatter with different tensors: rank {} receives "
                               "{}, but root {} sends {} to each rank",
                               rank, text(blocks[rank]), root, text(wanted))};
  return Ok();
}

/// Sends each source to its rank as a message.
inline Status ScatterAsMessages(comm::Communicator& communicator, const Tensors& sources,
                                const at::Tensor& room, std::int64_t root, Milliseconds timeout) {
  RINGLET_TRY(CompareBlocks(communicator, room, root, timeout));
  const comm::Identity self = communicator.identity();
  const Moved moved(room);
  const std::size_t count = moved.Count(room.numel());
  const Rank root_rank{static_cast<std::uint32_t>(root)};
  if (self.rank != root_rank)
    return comm::Receive(communicator, root_rank, RoomOf(room), count, moved.type);
  Tensors dense;
  std::vector<comm::Transfer> transfers;
  for (std::uint32_t distance = 1; distance < self.size; ++distance) {
    const std::uint32_t rank = (Index(root_rank) + distance) % self.size;
    dense.push_back(Dense(sources[rank]));
    transfers.push_back({.peer = Rank{rank},
                         .sends = true,
                         .from = BytesOf(dense.back()),
                         .count = count,
                         .type = moved.type});
  }
  RINGLET_TRY(communicator.Run(transfers));
  Deliver(Dense(sources[Index(root_rank)]), room);
  return Ok();
}

/// Takes one source per rank on the root, none elsewhere. Joins small sources; larger ones stay in
/// their memory.
inline Status ScatterLists(comm::Communicator& communicator, const Tensors& sources,
                           const at::Tensor& room, std::int64_t root, Milliseconds timeout) {
  constexpr std::size_t kJoinedMax = 64 << 10;
  if (room.nbytes() > kJoinedMax)
    return ScatterAsMessages(communicator, sources, room, root, timeout);
  const at::Tensor joint = sources.empty() ? at::Tensor() : Joined(sources);
  return Scatter(communicator, joint, room, root, timeout);
}

inline Status ReduceInto(comm::Communicator& communicator, const at::Tensor& input,
                         const at::Tensor& output, const TensorReduction& reduction,
                         Milliseconds timeout) {
  communicator.set_timeout(timeout);
  const at::Tensor dense = Dense(input), room = Room(output);
  RINGLET_TRY(ReduceScatter(communicator,
                            Reducing(reduction, BytesOf(dense), RoomOf(room), room.nbytes())));
  Deliver(room, output);
  return Ok();
}

/// Takes one source per rank. If their sizes differ, reduces each one separately.
inline Status ReduceLists(comm::Communicator& communicator, const Tensors& sources,
                          const at::Tensor& output, std::int64_t rank,
                          const TensorReduction& reduction, Milliseconds timeout) {
  const bool equal = std::ranges::all_of(
      sources, [&](const at::Tensor& source) { return source.numel() == output.numel(); });
  if (equal) return ReduceInto(communicator, Joined(sources), output, reduction, timeout);
  for (std::int64_t root = 0; root < static_cast<std::int64_t>(sources.size()); ++root) {
    const at::Tensor part =
        sources[static_cast<std::size_t>(root)].clone(at::MemoryFormat::Contiguous);
    RINGLET_TRY(Reduce(communicator, part, reduction, root, timeout));
    if (root == rank) Deliver(part, output);
  }
  return Ok();
}

/// Replaces a sparse tensor by the sum over all ranks: gathers the elements, padded to the longest
/// tensor, and adds those with equal indices.
inline Status SumSparse(comm::Communicator& communicator, at::Tensor& tensor, int size,
                        Milliseconds timeout) {
  const at::Tensor own = tensor.coalesce();
  const at::Tensor lengths = at::empty({size}, at::kLong);
  RINGLET_TRY(AllGather(communicator, at::full({1}, own._nnz(), at::kLong), lengths, timeout));
  const std::int64_t longest = lengths.max().item<std::int64_t>();
  if (longest == 0) return Ok();

  auto shape = own._values().sizes().vec();
  shape[0] = longest;
  const at::Tensor indices = at::zeros({longest, own.sparse_dim()}, at::kLong);
  const at::Tensor values = at::zeros(shape, own._values().options());
  indices.narrow(0, 0, own._nnz()).copy_(own._indices().t());
  values.narrow(0, 0, own._nnz()).copy_(own._values());
  const at::Tensor all_indices = at::empty({size, longest, own.sparse_dim()}, at::kLong);
  shape.insert(shape.begin(), size);
  const at::Tensor all_values = at::empty(shape, values.options());
  RINGLET_TRY(AllGather(communicator, indices, all_indices, timeout));
  RINGLET_TRY(AllGather(communicator, values, all_values, timeout));

  Tensors indices_of, values_of;
  for (int rank = 0; rank < size; ++rank) {
    const std::int64_t length = lengths[rank].item<std::int64_t>();
    indices_of.push_back(all_indices[rank].narrow(0, 0, length));
    values_of.push_back(all_values[rank].narrow(0, 0, length));
  }
  const at::Tensor sum = at::sparse_coo_tensor(at::cat(indices_of).t(), at::cat(values_of),
                                               tensor.sizes(), tensor.options());
  tensor.copy_(sum.coalesce());
  return Ok();
}

}  // namespace ringlet::torch_api
