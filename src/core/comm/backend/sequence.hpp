// The parts of one call. Parts on the host run in sequence, and so do parts over links. Both
// sequences run concurrently.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collective/call/operation.hpp"

namespace ringlet::comm {

class Sequence final : public collective::Operation {
 public:
  using Made = Result<std::unique_ptr<collective::Operation>>;
  struct SubOperation {
    /// Called when the part begins. The previous part of its kind is done and destroyed.
    std::function<Made()> make;
    bool over_links = false;
    /// The number of parts over links that must be done before this part on the host begins.
    std::size_t links_before = 0;
  };

  /// Begins all parts that can begin now.
  static Made Begin(std::vector<SubOperation> parts);
  /// Runs `first`, which has begun, to its end, destroys it, and then begins `second`.
  static std::unique_ptr<collective::Operation> Of(std::unique_ptr<collective::Operation> first,
                                                   std::function<Made()> second);

  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override { return awaited() ? awaited()->WaitingFor() : ""; }
  std::optional<Rank> Awaits() const override {
    return awaited() ? awaited()->Awaits() : std::nullopt;
  }
  /// Returns the wait target of the part on the host, if one runs. That part ends soon, because its
  /// ranks finish their work there before they wait for other hosts.
  const collective::WaitTarget* place() const override {
    return awaited() ? awaited()->place() : nullptr;
  }
  void Withdraw() override;

 private:
  /// Parts of one kind, in order.
  struct Track {
    std::vector<SubOperation> parts;
    std::size_t begun = 0;
    std::unique_ptr<collective::Operation> running = {};  // null: the next has not begun

    std::size_t done() const { return begun - (running ? 1 : 0); }
    bool IsOver() const { return done() == parts.size(); }
  };

  explicit Sequence(std::vector<SubOperation> parts);
  const collective::Operation* awaited() const {
    return host_.running ? host_.running.get() : links_.running.get();
  }
  Status BeginNext();
  Result<bool> AdvanceTrack(Track& track);
  Result<bool> AdvanceBoth();

  Track host_, links_;
  std::vector<std::size_t> host_before_;  // by part over links: the number of preceding host parts
  std::optional<Error> error_;
  bool moved_ = false;
};

}  // namespace ringlet::comm
