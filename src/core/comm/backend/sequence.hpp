// The parts of one call: some on the host, one after the other, and some over links, one after the
// other, beside them.
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
    /// Called when the part begins: the one before of its kind is done and gone.
    std::function<Made()> make;
    bool over_links = false;
    /// On the host: so many parts over links are done before it begins.
    std::size_t links_before = 0;
  };

  /// Begins what can begin now.
  static Made Begin(std::vector<SubOperation> parts);
  /// One that has begun, and another when it is done and gone.
  static std::unique_ptr<collective::Operation> Of(std::unique_ptr<collective::Operation> first,
                                                   std::function<Made()> second);

  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override { return awaited() ? awaited()->WaitingFor() : ""; }
  std::optional<Rank> Awaits() const override {
    return awaited() ? awaited()->Awaits() : std::nullopt;
  }
  /// Of the part on the host, if one runs: its ranks do what they have to do there before they wait
  /// for other hosts, so that it is over soon.
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
  std::vector<std::size_t> host_before_;  // of each part over links, the parts on the host before
  std::optional<Error> error_;
  bool moved_ = false;
};

}  // namespace ringlet::comm
