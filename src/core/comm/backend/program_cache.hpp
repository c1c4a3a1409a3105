// Caches the programs that a backend builds for calls. A later call of the same shape reuses them.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "collective/call/call.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

/// \tparam Program  a value that depends on a call's shape and on no other variable
template <typename Program>
class ProgramCache {
 public:
  /// Returns the program for the call. If the cache lacks it, `build` creates it as a
  /// Result<Program>. The program lives as long as the returned pointer.
  template <typename Build>
  Result<std::shared_ptr<const Program>> For(const collective::Call& call,
                                             const collective::Overlap& overlap, Build&& build) {
    const Rank root = HasRoot(call.kind) ? call.root : Rank{};
    const Shape shape{call.kind, call.count,      SizeOf(call.type), root,
                      overlap,   call.algorithms, call.tuner};
    const auto found = programs_.find(shape);
    if (found != programs_.end()) return found->second;
    if (programs_.size() >= kProgramsMax) programs_.clear();
    RINGLET_TRY_ASSIGN(Program made, build());
    auto program = std::make_shared<const Program>(std::move(made));
    programs_.emplace(shape, program);
    return program;
  }
  void Clear() { programs_.clear(); }

 private:
  static constexpr std::size_t kProgramsMax = 64;
  /// Kind, count, bytes per element, root, overlap of buffers, and algorithms that may run it.
  using Shape = std::tuple<collective::CallKind, std::size_t, std::size_t, Rank,
                           collective::Overlap, std::uint32_t, collective::TunerChoice>;
  std::map<Shape, std::shared_ptr<const Program>> programs_;
};

}  // namespace ringlet::comm
