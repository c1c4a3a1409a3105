// Selects the algorithm of each call of one communicator, from the layout of its ranks and the
// user's settings. The same on all ranks.
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

  /// Errors  kInvalidArgument  no algorithm that the call allows can run it
  Status Can(const collective::Call& call) const;
  collective::Algorithm For(const collective::Call& call) const {
    return collective::Select(call, layout_, Restricted(tuner_, call));
  }
  /// \pre  calls use links
  plan::TimeTable TimesOf(const collective::Call& call) const {
    return TimesOverLinks(call, layout_, Restricted(tuner_, call));
  }
  /// Returns the call, restricted to the algorithms that correspond to the choice.
  /// \pre  calls use links
  static collective::Call Choose(const collective::Call& call,
                                 const collective::TunerChoice& choice);

 private:
  collective::Layout layout_;
  collective::Tuner tuner_;
};

/// A backend that runs each call by the algorithm that a Selector selects.
class SelectingBackend : public Backend {
 public:
  SelectingBackend(collective::CallPlace place, Traits its, Selector selector)
      : Backend(place, its), selector_(std::move(selector)) {}

  Status Can(const collective::Call& call) const override { return selector_.Can(call); }
  Profile::AlgorithmNames AlgorithmNamesOf(const collective::Call& call) const override {
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
