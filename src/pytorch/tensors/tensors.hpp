// Tensors as memory that communicators move and reduce. Included by module.cpp only.
#pragma once
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/Types.hpp>

#include "base/value/bytes.hpp"
#include "pytorch/tensors/tensor_memory.hpp"
#include "ringlet/types.hpp"

namespace ringlet::torch_api {

using Tensors = std::vector<at::Tensor>;

/// Returns a contiguous tensor with the same elements: `tensor` itself if possible.
inline at::Tensor Dense(const at::Tensor& tensor) {
  if (tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg()) return tensor;
  return tensor.resolve_conj().resolve_neg().contiguous();
}

/// Returns contiguous room for the elements of `tensor`: `tensor` itself if possible.
inline at::Tensor Room(const at::Tensor& tensor) {
  if (tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg()) return tensor;
  return at::empty(tensor.sizes(), tensor.options(), at::MemoryFormat::Contiguous);
}

/// Copies the elements of `from` to `to`, unless they are the same tensor. \pre  equal numbers
inline void Deliver(const at::Tensor& from, const at::Tensor& to) {
  if (from.is_same(to)) return;
  // Tensors of inference mode can only be written in that mode, which the caller may have left.
  const c10::InferenceMode as_made(to.is_inference());
  to.copy_(from.view(to.sizes()));
}

inline View BytesOf(const at::Tensor& dense) {
  return View(static_cast<const std::byte*>(dense.const_data_ptr()), dense.nbytes());
}

inline std::span<std::byte> RoomOf(const at::Tensor& dense) {
  return std::span(static_cast<std::byte*>(dense.data_ptr()), dense.nbytes());
}

/// Creates a one-dimensional tensor in memory that the other ranks of the host can reach. Throws if
/// memory or descriptors run out.
inline at::Tensor ReachableTensor(std::int64_t elements, const at::TensorOptions& options) {
  TORCH_CHECK_VALUE(elements >= 0, "ringlet: a tensor cannot have ", elements, " elements");
  TORCH_CHECK_VALUE(options.device().is_cpu(), "ringlet: tensors must be on CPUs, not on ",
                    options.device());
  const auto each = static_cast<std::size_t>(options.dtype().itemsize());
  const auto count = static_cast<std::size_t>(elements);
  if (count == 0) return at::empty({0}, options);
  TORCH_CHECK_VALUE(count <= SIZE_MAX / each, "ringlet: ", elements, " elements of ", each,
                    " bytes exceed the largest size");
  auto memory = TensorMemory::The().Allocate(count * each);
  TORCH_CHECK(memory.ok(), "ringlet: no memory for a tensor of ", count * each,
              " bytes: ", memory.error().message);
  const auto give_back = [](void* begin) {
    TensorMemory::The().Free(static_cast<const std::byte*>(begin));
  };
  return at::from_blob(*memory, {elements}, give_back, options);
}

/// Returns one tensor for all if they are adjacent in memory, which avoids copies.
inline std::optional<at::Tensor> AsOne(const Tensors& tensors) {
  const at::Tensor& first = tensors.front();
  std::int64_t elements = 0;
  for (const at::Tensor& tensor : tensors) {
    const auto offset = first.storage_offset() + elements;
    if (!tensor.is_contiguous() || !tensor.is_alias_of(first) || tensor.is_conj() ||
        tensor.is_neg() || tensor.storage_offset() != offset)
      return std::nullopt;
    elements += tensor.numel();
  }
  return first.as_strided({elements}, {1}, first.storage_offset());
}

/// Concatenates the elements of all tensors.
inline at::Tensor Joined(const Tensors& tensors) {
  if (auto one = AsOne(tensors)) return *one;
  Tensors flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(Dense(tensor).reshape({-1}));
  return at::cat(flat);
}

/// Returns contiguous room for the elements of all tensors.
inline at::Tensor JointRoom(const Tensors& tensors) {
  if (auto one = AsOne(tensors)) return *one;
  std::int64_t elements = 0;
  for (const at::Tensor& tensor : tensors) elements += tensor.numel();
  return at::empty({elements}, tensors.front().options());
}

/// Copies the elements of `joint` to the tensors, in order.
inline void Share(const at::Tensor& joint, const Tensors& tensors) {
  if (tensors.empty() || joint.is_alias_of(tensors.front())) return;
  std::int64_t offset = 0;
  for (const at::Tensor& tensor : tensors) {
    Deliver(joint.narrow(0, offset, tensor.numel()), tensor);
    offset += tensor.numel();
  }
}

/// Returns Ringlet's element type; empty if elements can only be moved, as bytes.
inline std::optional<DataType> KnownType(at::ScalarType type) {
  constexpr std::pair<at::ScalarType, DataType> kTypes[] = {
      {at::kFloat, DataType::kFloat32},
      {at::kBFloat16, DataType::kBfloat16},
      {at::kBool, DataType::kBool},
      {at::kChar, DataType::kInt8},
      {at::kByte, DataType::kUint8},
      {at::kShort, DataType::kInt16},
      {at::kInt, DataType::kInt32},
      {at::kUInt32, DataType::kUint32},
      {at::kLong, DataType::kInt64},
      {at::kUInt64, DataType::kUint64},
      {at::kHalf, DataType::kFloat16},
      {at::kDouble, DataType::kFloat64},
      {at::kFloat8_e4m3fn, DataType::kFloat8e4m3},
      {at::kFloat8_e5m2, DataType::kFloat8e5m2},
  };
  for (const auto& [theirs, ours] : kTypes)
    if (theirs == type) return ours;
  return std::nullopt;
}

/// Returns the element type for a reduction.
inline DataType TypeOf(at::ScalarType type) {
  const auto known = KnownType(type);
  TORCH_CHECK(known, "ringlet: tensors of ", type,
              " can be moved but not reduced; convert them first");
  return *known;
}

inline ReduceOp OpOf(const c10d::ReduceOp& op) {
  constexpr std::pair<c10d::ReduceOp::RedOpType, ReduceOp> kOps[] = {
      {c10d::ReduceOp::SUM, ReduceOp::kSum},
      {c10d::ReduceOp::AVG, ReduceOp::kAvg},
      {c10d::ReduceOp::PRODUCT, ReduceOp::kProd},
      {c10d::ReduceOp::MIN, ReduceOp::kMin},
      {c10d::ReduceOp::MAX, ReduceOp::kMax},
      {c10d::ReduceOp::BAND, ReduceOp::kBand},
      {c10d::ReduceOp::BOR, ReduceOp::kBor},
      {c10d::ReduceOp::BXOR, ReduceOp::kBxor},
      {c10d::ReduceOp::PREMUL_SUM, ReduceOp::kPreMulSum},
  };
  for (const auto& [theirs, ours] : kOps)
    if (theirs == op.op_) return ours;
  TORCH_CHECK(false, "ringlet: reduction ", static_cast<int>(op.op_), " does not exist");
}

/// Returns the factor of PREMUL_SUM.
inline double FactorOf(const c10d::ReduceOp& op) {
  if (op.op_ != c10d::ReduceOp::PREMUL_SUM) return 1;
  // Newer versions rename it but keep this name.
  const auto* supplement = dynamic_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
  TORCH_CHECK(supplement, "ringlet: PREMUL_SUM lacks its factor");
  if (!supplement->tensor_factor.defined()) return supplement->double_factor;
  return supplement->tensor_factor.item<double>();
}

inline void CheckTensor(const at::Tensor& tensor, const char* operation) {
  TORCH_CHECK(tensor.device().is_cpu(), "ringlet: ", operation, " takes CPU tensors, not one on ",
              tensor.device());
  TORCH_CHECK(tensor.layout() == at::kStrided, "ringlet: ", operation,
              " takes dense tensors, not one of layout ", tensor.layout());
}

/// True if two elements of the tensor share memory, as in an expanded tensor.
inline bool OverlapsItself(const at::Tensor& tensor) {
  if (tensor.is_non_overlapping_and_dense()) return false;
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // strides and lengths
  for (std::int64_t i = 0; i < tensor.dim(); ++i)
    if (tensor.size(i) > 1) steps.emplace_back(tensor.stride(i), tensor.size(i));
  std::ranges::sort(steps);
  std::int64_t reach = 0;
  for (const auto& [stride, length] : steps) {
    if (stride == 0) return true;
    if (stride <= reach) {  // at least interleaved: compare all offsets
      std::vector<std::int64_t> places{0};
      for (const auto& [step, times] : steps) {
        std::vector<std::int64_t> further;
        for (const std::int64_t place : places)
          for (std::int64_t i = 0; i < times; ++i) further.push_back(place + i * step);
        places = std::move(further);
      }
      std::ranges::sort(places);
      return std::ranges::adjacent_find(places) != places.end();
    }
    reach += stride * (length - 1);
  }
  return false;
}

/// Refuses unwritable tensors before data are sent. Gloo writes beyond the memory of some of them.
inline void CheckWritten(const at::Tensor& tensor, const char* operation) {
  TORCH_CHECK(tensor.numel() == 0 || !OverlapsItself(tensor), "ringlet: ", operation,
              " cannot write a tensor with several elements in one place (strides ",
              tensor.strides(), " of sizes ", tensor.sizes(), "); clone it first");
  TORCH_CHECK(!tensor.is_quantized() || tensor.is_contiguous(), "ringlet: ", operation,
              " writes quantized tensors only if they are contiguous");
}
inline void CheckWritten(const Tensors& tensors, const char* operation) {
  for (const at::Tensor& tensor : tensors) CheckWritten(tensor, operation);
}

inline const at::Tensor& OnlyOne(const Tensors& tensors, const char* operation) {
  TORCH_CHECK(tensors.size() == 1, "ringlet: ", operation, " takes one tensor, not ",
              tensors.size());
  CheckTensor(tensors.front(), operation);
  return tensors.front();
}

inline void CheckAlike(const Tensors& tensors, const at::Tensor& model, const char* operation) {
  for (const at::Tensor& tensor : tensors) {
    CheckTensor(tensor, operation);
    TORCH_CHECK(tensor.scalar_type() == model.scalar_type(), "ringlet: ", operation,
                " was given tensors of ", tensor.scalar_type(), " and of ", model.scalar_type());
  }
}

}  // namespace ringlet::torch_api
