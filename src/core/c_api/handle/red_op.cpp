#include "c_api/handle/red_op.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "comm/service/fork_guard.hpp"

namespace ringlet::c_api {
namespace {

/// More than any program creates. The limit detects a leak before memory runs out.
constexpr std::size_t kRedOpsMax = 1 << 16;

struct Made {
  DataType type = DataType::kFloat32;
  collective::Scalar scalar = {};         // read at creation
  const std::byte* read_later = nullptr;  // or the address, read when a collective runs
};

// Global, like the communicator handles, because no object of the C API owns them.
struct RedOps {
  explicit RedOps(const RedOps* /*parent*/) {}
  std::mutex mutex;
  std::map<std::pair<const comm::Communicator*, int>, Made> made;
  int next = ncclNumOps;
};
RedOps& TheRedOps() {
  static comm::PerProcess<RedOps> registries;
  return registries.Here();
}

collective::Scalar Copy(const void* scalar, DataType type) {
  return collective::Scalar(View(static_cast<const std::byte*>(scalar), SizeOf(type)));
}

Error NoSuch(int op) {
  return {.code = Code::kInvalidArgument,
          .message = fmt::format("reduction {} does not exist", op)};
}

}  // namespace

Result<ncclRedOp_t> CreatePreMulSum(const comm::Communicator& communicator, const void* scalar,
                                    DataType type, bool read_later) {
  RedOps& registry = TheRedOps();
  const std::lock_guard lock(registry.mutex);
  if (registry.made.size() >= kRedOpsMax)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} reductions exist; ncclRedOpDestroy frees one", kRedOpsMax)};
  while (registry.made.contains({&communicator, registry.next})) ++registry.next;
  const int number = registry.next;
  registry.next = number == ncclMaxRedOp ? static_cast<int>(ncclNumOps) : number + 1;
  registry.made[{&communicator, number}] = {
      .type = type,
      .scalar = read_later ? collective::Scalar() : Copy(scalar, type),
      .read_later = read_later ? static_cast<const std::byte*>(scalar) : nullptr};
  return static_cast<ncclRedOp_t>(number);
}

Status DestroyRedOp(const comm::Communicator& communicator, ncclRedOp_t op) {
  if (static_cast<int>(op) >= 0 && static_cast<int>(op) < static_cast<int>(kNcclReduceOps))
    return Error{Code::kInvalidArgument,
                 fmt::format("reduction {} is built in: only reductions from ncclRedOpCreate "
                             "functions can be destroyed",
                             static_cast<int>(op))};
  RedOps& registry = TheRedOps();
  const std::lock_guard lock(registry.mutex);
  if (registry.made.erase({&communicator, static_cast<int>(op)}) == 0)
    return NoSuch(static_cast<int>(op));
  return Ok();
}

Result<RedOp> FindRedOp(const comm::Communicator& communicator, ncclRedOp_t op, DataType type) {
  const int number = static_cast<int>(op);
  if (number >= 0 && number < static_cast<int>(kNcclReduceOps))
    return RedOp{.op = static_cast<ReduceOp>(number)};
  RedOps& registry = TheRedOps();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.made.find({&communicator, number});
  if (found == registry.made.end()) return NoSuch(number);
  const Made& made = found->second;
  if (made.type != type)
    return Error{Code::kInvalidArgument,
                 fmt::format("reduction {} was made for elements of {}, not {}", number,
                             Name(made.type), Name(type))};
  return RedOp{.op = ReduceOp::kPreMulSum, .scalar = made.scalar, .scalar_at = made.read_later};
}

void ForgetRedOps(const comm::Communicator& communicator) {
  RedOps& registry = TheRedOps();
  const std::lock_guard lock(registry.mutex);
  std::erase_if(registry.made,
                [&](const auto& entry) { return entry.first.first == &communicator; });
}

}  // namespace ringlet::c_api
