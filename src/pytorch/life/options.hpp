// The options of a process group. Included by module.cpp only.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "pytorch/life/versions.hpp"

namespace ringlet::torch_api {

class BackendOptions : public c10d::Backend::Options {
 public:
  explicit BackendOptions(std::chrono::milliseconds operation_timeout = kBackendDefaultTimeout)
      : Options("ringlet", operation_timeout) {}

  /// Gives a split group its own options. In PyTorch since 2.15.
  c10::intrusive_ptr<c10d::Backend::Options> clone() const {
    return c10::make_intrusive<BackendOptions>(*this);
  }

  /// Returns the options of a child group. \param given  by the caller, or null
  c10::intrusive_ptr<BackendOptions> OfChild(
      const c10::intrusive_ptr<c10d::Backend::Options>& given) const {
    auto child = c10::make_intrusive<BackendOptions>(given ? given->timeout : timeout);
    child->init_timeout = init_timeout;
    child->ranks_per_root = ranks_per_root;
    if (given) CopyGroup<c10d::Backend::Options>(*given, *child);
    return child;
  }

  /// The timeout for forming a communicator.
  std::chrono::milliseconds FormingTimeout() const {
    return init_timeout.count() > 0 ? init_timeout : timeout;
  }

  std::chrono::milliseconds init_timeout{0};  ///< for forming a communicator; 0: as for operations
  std::int64_t ranks_per_root = 128;
};

}  // namespace ringlet::torch_api
