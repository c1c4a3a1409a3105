// Selects the algorithm of each call of one communicator, by how its ranks lie and what the user
// allows. The same on all ranks.
#pragma once
#include "collective/select/select.hpp"
#include "comm/backend/backend.hpp"
#include "comm/peers/selection.hpp"

namespace ringlet::comm {

/// Pure. A value.
class Selector {
 public:
  Selector(collective::Layout layout, collective::Tuner tuner)
      : layout_(std::move(layout)), tuner_(std::move(tuner)) {}

  const collective::Layout& layout() const { return layout_; }
  const collective::Tuner& tuner() const { return tuner_; }

  /// Errors  kInvalidArgument  none of the algorithms that the call allows can run it
  Status Can(const collective::Call& call) const;
  collective::Algorithm For(const collective::Call& call) const {
    return collective::Select(call, layout_, Restricted(tuner_, call));
  }
  /// \pre  calls go over links
  plan::TimeTable TimesOf(const collective::Call& call) const {
    return TimesOverLinks(call, layout_, Restricted(tuner_, call));
  }
  /// The call, restricted to the algorithms that are like the one of the choice.
  /// \pre  calls go over links
  static collective::Call Choose(const collective::Call& call,
                                 const collective::TunerChoice& choice);

 private:
  collective::Layout layout_;
  collective::Tuner tuner_;
};

/// A backend whose calls run by the algorithms that a Selector selects.
class SelectingBackend : public Backend {
 public:
  SelectingBackend(collective::CallPlace place, Traits its, Selector selector)
      : Backend(place, its), selector_(std::move(selector)) {}

  Status Can(const collective::Call& call) const override { return selector_.Can(call); }
  Profile::Way WayOf(const collective::Call& call) const override {
    return {.algorithm = Name(selector_.For(call)).data(), .protocol = "SIMPLE"};
  }
  plan::TimeTable TimesOf(const collective::Call& call) const override {
    return selector_.TimesOf(call);
  }
  collective::Call Choose(const collective::Call& call,
                          const collective::TunerChoice& choice) const override {
    return Selector::Choose(call, choice);
  }

 protected:
  const Selector selector_;
};

}  // namespace ringlet::comm
