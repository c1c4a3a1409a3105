#include "shrink.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>

namespace oracle {
namespace {

constexpr int kAttempts = 5;  // runs that show the frequency of the failure
constexpr int kTriesMax = 12;

/// Sets a field. Returns false if it has that value already.
template <typename T>
bool Set(T& field, const T& value) {
  if (field == value) return false;
  field = value;
  return true;
}

void Erase(std::vector<int>& list, int index) {
  if (index < static_cast<int>(list.size())) list.erase(list.begin() + index);
}

// Returns a rank's number after the removal of rank `gone`.
int Renumbered(int rank, int gone) {
  return rank > gone ? rank - 1 : rank == gone ? 0 : rank;
}

void AddCallSimplifications(std::size_t step, std::size_t call, std::vector<Simpler>& all) {
  const auto add = [&](auto change) {
    all.push_back([step, call, change](Program& program) {
      if (step >= program.steps.size() || call >= program.steps[step].calls.size()) return false;
      return change(program.steps[step].calls[call]);
    });
  };
  add([](Call& c) { return Set(c.memory, Memory::kMalloc); });
  add([](Call& c) { return Set(c.misalign, 0u); });
  add([](Call& c) { return Set(c.in_place, false); });
  add([](Call& c) { return Set(c.null_unused, false); });
  add([](Call& c) { return Set(c.ungrouped, false); });
  add([](Call& c) { return Set(c.late_scalar, false); });
  add([](Call& c) { return Set(c.values, Values::kExact); });
  add([](Call& c) { return Set(c.op, Op::kSum); });
  add([](Call& c) { return Set(c.type, Type::kInt8); });
  add([](Call& c) { return Set(c.repeat, 1); });
  add([](Call& c) { return Set(c.shift, 1); });
  add([](Call& c) { return Set(c.root, 0); });
  for (std::size_t count : {0u, 1u}) add([count](Call& c) { return Set(c.count, count); });
  for (int i = 0; i < 24; ++i)
    add([](Call& c) { return c.count > 1 && Set(c.count, c.count / 2); });
  for (std::size_t bit = std::size_t{1} << 20; bit > 0; bit /= 2)
    add([bit](Call& c) { return c.count > bit && Set(c.count, c.count - bit); });
}

void AddStepSimplifications(std::size_t at, std::vector<Simpler>& all) {
  const auto add = [&](auto change) {
    all.push_back([at, change](Program& program) {
      return at < program.steps.size() && change(program.steps[at]);
    });
  };
  add([](Step& s) { return s.what == What::kRun && s.rank >= 0 && Set(s.rank, -1); });
  add([](Step& s) { return Set(s.launches, 0); });
  add([](Step& s) { return Set(s.apart, false); });
  add([](Step& s) { return Set(s.null_too, false); });
  add([](Step& s) { return s.launches == 0 && !s.null_too && Set(s.streams, 0); });
  add([](Step& s) { return s.streams > 1 && Set(s.streams, 1); });
  add([](Step& s) { return Set(s.shuffled, false); });
  add([](Step& s) { return Set(s.nonblocking, false); });
  add([](Step& s) { return Set(s.scalable, false); });
  add([](Step& s) { return Set(s.all, false); });
  add([](Step& s) { return Set(s.finalize, false); });
  add([](Step& s) { return s.depth > 1 && Set(s.depth, 1); });
  add([](Step& s) { return s.depth > 0 && !s.simulate && !s.calls.empty() && Set(s.depth, 0); });
  add([](Step& s) { return s.what != What::kRun && Set(s.depth, 0); });
}

// Removes chunks of steps, large ones first: delta debugging.
void AddDrops(std::size_t steps, std::vector<Simpler>& all) {
  for (std::size_t size = steps / 2; size > 0; size /= 2)
    for (std::size_t first = 0; first + size <= steps; first += size)
      all.push_back([from = steps - first - size, size](Program& program) {
        if (from + size > program.steps.size()) return false;
        const auto begin = program.steps.begin() + static_cast<std::ptrdiff_t>(from);
        program.steps.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
        return true;
      });
}

/// Returns the kind of failure, without numbers: the outcome, and the function or the first words.
std::string SignatureOf(const Verdict& verdict) {
  constexpr std::size_t kWords = 3;
  const std::size_t colon = verdict.text.find(": ");  // after the rank
  std::istringstream in(colon < verdict.text.size() ? verdict.text.substr(colon + 2) : "");
  std::string signature = Name(verdict.outcome), word;
  for (std::size_t i = 0; i < kWords && in >> word && word.find('=') == std::string::npos; ++i)
    signature += " " + word;
  std::erase_if(signature, [](unsigned char c) { return std::isdigit(c); });
  return signature;
}

class Shrinker {
 public:
  Shrinker(const Program& program, const Verdict& verdict, std::chrono::seconds timeout,
           std::chrono::seconds budget)
      : timeout_(timeout), deadline_(Running::Clock::now() + budget) {
    best_.program = program;
    best_.verdict = verdict;
    signature_ = SignatureOf(verdict);
  }

  Shrunk Run() {
    for (best_.tried = 0; best_.tried < kAttempts; ++best_.tried)
      best_.failed += Fails(best_.program, 1);
    if (best_.failed == 0) return best_;
    tries_ = std::clamp(3 * kAttempts / best_.failed - 2, 1, kTriesMax);
    while (Round()) {
    }
    return best_;
  }

 private:
  /// Tries all simplifications once; the list is rebuilt after one that drops steps.
  bool Round() {
    bool any = false;
    std::vector<Simpler> all = Simplifications(best_.program);
    for (std::size_t i = 0; i < all.size() && Running::Clock::now() < deadline_; ++i) {
      Program candidate = best_.program;
      if (!all[i](candidate)) continue;
      candidate = Normalised(candidate);
      if (candidate.steps.empty() || !Fails(candidate, tries_)) continue;
      any = true;
      const bool dropped = candidate.steps.size() < best_.program.steps.size();
      best_.program = std::move(candidate);
      best_.verdict = last_;
      if (dropped) {
        all = Simplifications(best_.program);
        i = static_cast<std::size_t>(-1);
      }
    }
    return any && Running::Clock::now() < deadline_;
  }

  bool Fails(const Program& program, int tries) {
    for (int i = 0; i < tries && Running::Clock::now() < deadline_; ++i) {
      ++best_.runs;
      last_ = RunToVerdict(program, timeout_);
      if (SignatureOf(last_) == signature_) return true;
    }
    return false;
  }

  std::chrono::seconds timeout_;
  Running::Clock::time_point deadline_;
  Shrunk best_;
  std::string signature_;
  Verdict last_;
  int tries_ = 1;
};

}  // namespace

Program WithoutLastRank(const Program& program) {
  Program less = program;
  const int gone = program.ranks() - 1;
  less.places.pop_back();
  less.steps.clear();
  World world;
  for (Step step : program.steps) {
    int index = -1;  // of the removed rank, in the step's communicator
    const auto members = world.members.find(step.comm);
    if (members != world.members.end()) {
      const auto found = std::find(members->second.begin(), members->second.end(), gone);
      if (found != members->second.end()) index = static_cast<int>(found - members->second.begin());
    }
    World next = world;
    if (Fits(step, world, program)) Apply(step, next);
    if (step.what == What::kForm || step.what == What::kGrow) std::erase(step.ranks, gone);
    if (step.what == What::kShrink && index >= 0) {
      std::erase(step.ranks, index);
      for (int& rank : step.ranks) rank = Renumbered(rank, index);
    }
    if (step.what == What::kSplit && index >= 0) {
      Erase(step.colors, index);
      Erase(step.keys, index);
    }
    for (Call& call : step.calls) {
      const auto of = world.members.find(call.comm);
      if (of == world.members.end()) continue;
      const auto found = std::find(of->second.begin(), of->second.end(), gone);
      if (found == of->second.end()) continue;
      const int at = static_cast<int>(found - of->second.begin());
      call.root = Renumbered(call.root, at);
      call.odd_rank = Renumbered(call.odd_rank, at);
      if ((of->second.size() - 1) % 2 == 1) call.ungrouped = false;
    }
    if (step.rank == gone) step.rank = step.what == What::kRun ? -1 : 0;
    less.steps.push_back(std::move(step));
    world = std::move(next);
  }
  return less;
}

std::vector<Simpler> Simplifications(const Program& program) {
  std::vector<Simpler> all;
  AddDrops(program.steps.size(), all);
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    for (std::size_t c = 0; c < program.steps[s].calls.size(); ++c)
      all.push_back([s, c](Program& p) {
        if (s >= p.steps.size() || c >= p.steps[s].calls.size() || p.steps[s].calls.size() < 2)
          return false;
        p.steps[s].calls.erase(p.steps[s].calls.begin() + static_cast<std::ptrdiff_t>(c));
        return true;
      });
  for (std::size_t s = 0; s < program.settings.size(); ++s)
    all.push_back([s](Program& p) {
      if (s >= p.settings.size()) return false;
      p.settings.erase(p.settings.begin() + static_cast<std::ptrdiff_t>(s));
      return true;
    });
  all.push_back([](Program& p) {
    if (p.ranks() < 2) return false;
    p = WithoutLastRank(p);
    return true;
  });
  for (const char* layout : {"fork", "threads", "one-thread"})
    all.push_back([layout](Program& p) {
      if (p.layout == layout) return false;
      const Layout* plain = FindLayout(layout);
      Dice dice(p.seed);
      p.places = DrawPlaces(*plain, p.ranks(), dice);
      p.layout = layout;
      return true;
    });
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    AddStepSimplifications(s, all);
    for (std::size_t c = 0; c < program.steps[s].calls.size(); ++c)
      AddCallSimplifications(s, c, all);
  }
  return all;
}

Shrunk Shrink(const Program& program, const Verdict& verdict, std::chrono::seconds timeout,
              std::chrono::seconds budget) {
  return Shrinker(program, verdict, timeout, budget).Run();
}

}  // namespace oracle
