#include "program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

namespace oracle {
namespace {

constexpr std::array<const char*, kKinds> kKindNames = {
    "all_reduce", "reduce",     "broadcast", "bcast",   "reduce_scatter",
    "all_gather", "all_to_all", "gather",    "scatter", "send_recv"};
constexpr std::array<const char*, kTypes> kTypeNames = {"int8",    "uint8",    "int32",   "uint32",
                                                        "int64",   "uint64",   "float16", "float32",
                                                        "float64", "bfloat16", "f8e4m3",  "f8e5m2"};
constexpr std::array<std::size_t, kTypes> kTypeSizes = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
constexpr std::array<const char*, kOps> kOpNames = {"sum", "prod", "max", "min", "avg", "pre_mul"};
constexpr std::array<const char*, kValues> kValuesNames = {"exact", "wide", "special"};
constexpr std::array<const char*, kMemories> kMemoryNames = {
    "malloc", "mmap",  "stack", "huge",       "static",           "file",
    "shared", "fixed", "nccl",  "registered", "registered_other", "window"};
constexpr std::array<const char*, kOdds> kOddNames = {"none", "count", "type",
                                                      "op",   "root",  "kind"};
constexpr std::array<const char*, 11> kWhatNames = {
    "form", "split", "shrink", "grow", "put", "run", "child", "destroy", "kill", "abort", "revoke"};

template <typename E, std::size_t N>
const char* NameOf(const std::array<const char*, N>& names, E value) {
  return names[static_cast<std::size_t>(value)];
}

/// The words of a line: the first one, key=value, and flags (with an empty value).
struct Words {
  int line = 0;
  std::string first;
  std::map<std::string, std::string> values;

  [[noreturn]] void Refuse(const std::string& why) const {
    throw std::runtime_error(fmt::format("line {}: {}", line, why));
  }
  bool Has(const char* key) const { return values.count(key) > 0; }
  std::int64_t Number(const char* key, std::int64_t missing) const {
    const auto found = values.find(key);
    if (found == values.end()) return missing;
    try {
      return std::stoll(found->second);
    } catch (const std::exception&) {
      Refuse(fmt::format("{}={} is no number", key, found->second));
    }
  }
  int Int(const char* key, int missing) const { return static_cast<int>(Number(key, missing)); }
  std::vector<int> List(const char* key) const {
    std::vector<int> list;
    const auto found = values.find(key);
    if (found == values.end()) return list;
    std::istringstream in(found->second);
    for (std::string item; std::getline(in, item, ',');) list.push_back(std::stoi(item));
    return list;
  }
  template <typename E, std::size_t N>
  E Enum(const char* key, const std::array<const char*, N>& names, E missing) const {
    const auto found = values.find(key);
    return found == values.end() ? missing : Named<E>(found->second, names);
  }
  template <typename E, std::size_t N>
  E Named(const std::string& word, const std::array<const char*, N>& names) const {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) Refuse(word + " is not known");
    return static_cast<E>(found - names.begin());
  }
};

Words Cut(const std::string& text, int line) {
  Words words;
  words.line = line;
  std::istringstream in(text);
  in >> words.first;
  for (std::string word; in >> word;) {
    const std::size_t equal = word.find('=');
    words.values[word.substr(0, equal)] = equal == std::string::npos ? "" : word.substr(equal + 1);
  }
  return words;
}

Call CallOf(const Words& words) {
  const Call usual;
  Call call;
  call.kind = words.Named<Kind>(words.first, kKindNames);
  call.id = static_cast<std::uint32_t>(words.Number("id", 0));
  call.comm = words.Int("comm", 0);
  call.type = words.Enum("type", kTypeNames, usual.type);
  call.op = words.Enum("op", kOpNames, usual.op);
  call.count = static_cast<std::size_t>(words.Number("count", 0));
  call.root = words.Int("root", 0);
  call.shift = words.Int("shift", usual.shift);
  call.repeat = words.Int("repeat", usual.repeat);
  call.ungrouped = words.Has("ungrouped");
  call.late_scalar = words.Has("late_scalar");
  call.in_place = words.Has("in_place");
  call.null_unused = words.Has("null_unused");
  call.values = words.Enum("values", kValuesNames, usual.values);
  call.memory = words.Enum("memory", kMemoryNames, usual.memory);
  call.misalign = static_cast<unsigned>(words.Number("misalign", 0));
  call.selection = words.Int("selection", 0);
  call.odd_rank = words.Int("odd_rank", -1);
  call.odd = words.Enum("odd", kOddNames, Odd::kNone);
  return call;
}

Step StepOf(const Words& words) {
  Step step;
  step.what = words.Named<What>(words.first, kWhatNames);
  step.comm = words.Int("comm", 0);
  step.made = words.Int("made", 0);
  step.ranks = words.List("ranks");
  step.colors = words.List("colors");
  step.keys = words.List("keys");
  step.depth = words.Int("depth", 0);
  step.rank = words.Int("rank", -1);
  step.us = words.Int("us", 0);
  step.shift = words.Int("shift", 0);
  step.bytes = words.Int("bytes", 0);
  step.repeat = words.Int("repeat", 1);
  step.streams = words.Int("streams", 0);
  step.launches = words.Int("launches", 0);
  step.null_too = words.Has("null_too");
  step.apart = words.Has("apart");
  step.simulate = words.Has("simulate");
  step.shuffled = words.Has("shuffled");
  step.all = words.Has("all");
  step.nonblocking = words.Has("nonblocking");
  step.scalable = words.Has("scalable");
  step.finalize = words.Has("finalize");
  step.broken = words.Has("broken");
  return step;
}

std::string ToText(const Step& step) {
  std::string text = NameOf(kWhatNames, step.what);
  const auto flag = [&](bool set, const char* name) {
    if (set) text += fmt::format(" {}", name);
  };
  const auto list = [&](const std::vector<int>& values, const char* name) {
    if (!values.empty()) text += fmt::format(" {}={}", name, fmt::join(values, ","));
  };
  if (step.what != What::kRun && step.what != What::kKill && step.what != What::kChild)
    text += fmt::format(" comm={}", step.comm);
  if (step.what == What::kSplit || step.what == What::kShrink || step.what == What::kGrow)
    text += fmt::format(" made={}", step.made);
  if (step.what == What::kPut)
    text += fmt::format(" shift={} bytes={} repeat={}", step.shift, step.bytes, step.repeat);
  list(step.ranks, "ranks");
  list(step.colors, "colors");
  list(step.keys, "keys");
  if (step.depth > 0) text += fmt::format(" depth={}", step.depth);
  if (step.rank >= 0) text += fmt::format(" rank={} us={}", step.rank, step.us);
  if (step.streams > 0) text += fmt::format(" streams={}", step.streams);
  if (step.launches > 0) text += fmt::format(" launches={}", step.launches);
  flag(step.null_too, "null_too");
  flag(step.apart, "apart");
  flag(step.simulate, "simulate");
  flag(step.shuffled, "shuffled");
  flag(step.all, "all");
  flag(step.nonblocking, "nonblocking");
  flag(step.scalable, "scalable");
  flag(step.finalize, "finalize");
  flag(step.broken, "broken");
  text += "\n";
  for (const Call& call : step.calls) text += "  " + ToText(call) + "\n";
  return text;
}

bool FitsCall(const Call& call, const World& world) {
  const auto found = world.members.find(call.comm);
  if (found == world.members.end()) return false;
  const int size = static_cast<int>(found->second.size());
  return call.root < size && call.odd_rank < size;
}

}  // namespace

std::size_t SizeOf(Type type) {
  return kTypeSizes[static_cast<std::size_t>(type)];
}

bool Reduces(Kind kind) {
  return kind == Kind::kAllReduce || kind == Kind::kReduce || kind == Kind::kReduceScatter;
}

bool HasRoot(Kind kind) {
  return kind == Kind::kReduce || kind == Kind::kBroadcast || kind == Kind::kBcast ||
         kind == Kind::kGather || kind == Kind::kScatter;
}

bool IsFloat(Type type) {
  return type >= Type::kFloat16;
}

std::size_t InputCount(const Call& call, int n, int self) {
  const auto all = static_cast<std::size_t>(n) * call.count;
  switch (call.kind) {
    case Kind::kReduceScatter:
    case Kind::kAllToAll: return all;
    case Kind::kBroadcast:
    case Kind::kBcast: return self == call.root ? call.count : 0;
    case Kind::kScatter: return self == call.root ? all : 0;
    case Kind::kSendRecv: return call.count * static_cast<std::size_t>(call.repeat);
    default: return call.count;
  }
}

std::size_t OutputCount(const Call& call, int n, int self) {
  const auto all = static_cast<std::size_t>(n) * call.count;
  switch (call.kind) {
    case Kind::kAllGather:
    case Kind::kAllToAll: return all;
    case Kind::kReduce: return self == call.root ? call.count : 0;
    case Kind::kGather: return self == call.root ? all : 0;
    case Kind::kSendRecv: return call.count * static_cast<std::size_t>(call.repeat);
    default: return call.count;
  }
}

bool FitsStreams(const Step& step, const World& world) {
  return step.streams >= 0 && step.streams <= kStreamsMax && step.launches >= 0 &&
         (step.launches == 0 || (step.streams > 0 && !step.null_too)) &&
         std::all_of(step.calls.begin(), step.calls.end(),
                     [&](const Call& call) { return FitsCall(call, world); });
}

bool Fits(const Step& step, const World& world, const Program& program) {
  const auto found = world.members.find(step.comm);
  const int size = found == world.members.end() ? 0 : static_cast<int>(found->second.size());
  const auto below = [](int bound) { return [bound](int r) { return r >= 0 && r < bound; }; };
  switch (step.what) {
    case What::kForm:
      return size == 0 && step.ranks.size() >= (step.scalable ? 2u : 1u) &&
             std::all_of(step.ranks.begin(), step.ranks.end(), below(program.ranks()));
    case What::kSplit:
      return size > 0 && static_cast<int>(step.colors.size()) == size &&
             static_cast<int>(step.keys.size()) == size && !world.doomed.count(step.comm);
    case What::kShrink:
      return size > static_cast<int>(step.ranks.size()) && !step.ranks.empty() &&
             std::all_of(step.ranks.begin(), step.ranks.end(), below(size));
    case What::kGrow:
      return size > 0 && !step.ranks.empty() && !world.doomed.count(step.comm) &&
             std::all_of(step.ranks.begin(), step.ranks.end(), below(program.ranks())) &&
             std::none_of(step.ranks.begin(), step.ranks.end(), [&](int rank) {
               return std::count(found->second.begin(), found->second.end(), rank) > 0;
             });
    case What::kPut:
      return size > 0 && !world.doomed.count(step.comm) && step.bytes >= 0 && step.repeat >= 1 &&
             step.bytes <= kPutBytesMax / step.repeat;
    case What::kRun: return FitsStreams(step, world);
    case What::kDestroy: return size > 0;
    case What::kChild:
    case What::kKill: return step.rank >= 0 && step.rank < program.ranks();
    case What::kAbort:
    case What::kRevoke:
      return FitsStreams(step, world) && size > 0 &&
             std::count(found->second.begin(), found->second.end(), step.rank) > 0;
  }
  return false;
}

void Apply(const Step& step, World& world) {
  const auto members = world.members.find(step.comm);
  switch (step.what) {
    case What::kForm:
      world.members[step.comm] = step.ranks;
      world.nonblocking[step.comm] = step.nonblocking;
      break;
    case What::kSplit: {
      std::map<int, std::vector<std::pair<int, int>>> parts;  // key and rank, by color
      for (std::size_t r = 0; r < step.colors.size(); ++r)
        if (step.colors[r] >= 0)
          parts[step.colors[r]].push_back({step.keys[r], static_cast<int>(r)});
      const std::vector<int> parent = members->second;
      for (auto& [color, part] : parts) {
        std::sort(part.begin(), part.end());
        std::vector<int> ranks;
        for (const auto& [key, r] : part) ranks.push_back(parent[static_cast<std::size_t>(r)]);
        world.members[step.made + color] = ranks;
        world.nonblocking[step.made + color] = world.nonblocking[step.comm];
      }
      break;
    }
    case What::kShrink: {
      std::vector<int> ranks;
      for (std::size_t r = 0; r < members->second.size(); ++r)
        if (std::count(step.ranks.begin(), step.ranks.end(), static_cast<int>(r)) == 0)
          ranks.push_back(members->second[r]);
      world.members[step.made] = ranks;
      world.nonblocking[step.made] = world.nonblocking[step.comm];
      break;
    }
    case What::kGrow: {
      std::vector<int> ranks = members->second;
      ranks.insert(ranks.end(), step.ranks.begin(), step.ranks.end());
      world.members[step.made] = ranks;
      world.nonblocking[step.made] = world.nonblocking[step.comm];
      break;
    }
    case What::kPut:
    case What::kChild: break;
    case What::kRun:
      for (const Call& call : step.calls)
        if (call.odd != Odd::kNone) world.doomed.insert(call.comm);
      break;
    case What::kDestroy: world.members.erase(step.comm); break;
    case What::kKill:
      world.dead.insert(step.rank);
      for (const auto& [comm, ranks] : world.members)
        if (std::count(ranks.begin(), ranks.end(), step.rank) > 0) world.doomed.insert(comm);
      break;
    case What::kAbort:
    case What::kRevoke: world.doomed.insert(step.comm); break;
  }
}

Program Normalised(const Program& program) {
  Program normal = program;
  normal.steps.clear();
  World world;
  for (Step step : program.steps) {
    std::erase_if(step.calls, [&](const Call& call) { return !FitsCall(call, world); });
    if (!Fits(step, world, program)) continue;
    Apply(step, world);
    normal.steps.push_back(std::move(step));
  }
  return normal;
}

std::size_t CountCalls(const Program& program) {
  std::size_t count = 0;
  for (const Step& step : program.steps) count += step.calls.size();
  return count;
}

std::size_t CountCalls(const Program& program, Among among) {
  std::size_t count = 0;
  bool child = false;
  for (const Step& step : program.steps) {
    child = child || step.what == What::kChild;
    const bool streamed = step.streams > 0 && !step.simulate;
    const bool counts[kAmongs] = {streamed, streamed && step.launches > 0,
                                  streamed && step.null_too, step.apart, child};
    if (counts[static_cast<int>(among)]) count += step.calls.size();
  }
  return count;
}

bool IsFault(const Step& step) {
  return step.what == What::kKill || step.what == What::kAbort || step.what == What::kRevoke ||
         std::any_of(step.calls.begin(), step.calls.end(),
                     [](const Call& call) { return call.odd != Odd::kNone; });
}

bool HasFault(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(), IsFault);
}

bool HasKill(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const Step& step) { return step.what == What::kKill; });
}

std::string ToText(const Call& call) {
  const Call usual;
  std::string text = fmt::format("{} id={} comm={} type={} count={}", NameOf(kKindNames, call.kind),
                                 call.id, call.comm, NameOf(kTypeNames, call.type), call.count);
  if (Reduces(call.kind))
    text += fmt::format(" op={} values={}", NameOf(kOpNames, call.op),
                        NameOf(kValuesNames, call.values));
  if (HasRoot(call.kind)) text += fmt::format(" root={}", call.root);
  if (call.kind == Kind::kSendRecv)
    text += fmt::format(" shift={} repeat={}", call.shift, call.repeat);
  if (call.memory != usual.memory)
    text += fmt::format(" memory={}", NameOf(kMemoryNames, call.memory));
  if (call.misalign) text += fmt::format(" misalign={}", call.misalign);
  if (Reduces(call.kind) && call.op == Op::kPreMulSum && call.late_scalar) text += " late_scalar";
  if (call.kind == Kind::kSendRecv && call.ungrouped) text += " ungrouped";
  if (call.in_place) text += " in_place";
  if (call.null_unused) text += " null_unused";
  if (call.selection > 0) text += fmt::format(" selection={}", call.selection);
  if (call.odd != Odd::kNone)
    text += fmt::format(" odd_rank={} odd={}", call.odd_rank, NameOf(kOddNames, call.odd));
  return text;
}

std::string ToText(const Program& program) {
  std::string text = fmt::format("seed {}\nlayout {}\nplaces", program.seed, program.layout);
  for (const Place& place : program.places)
    text += fmt::format(" {}/{}", place.process, place.thread);
  text += "\n";
  for (const std::string& setting : program.settings) text += fmt::format("set {}\n", setting);
  for (const Step& step : program.steps) text += ToText(step);
  return text;
}

Program Parse(const std::string& text) {
  Program program;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream rest(line);
    std::string first;
    if (!(rest >> first) || first.front() == '#') continue;
    if (first == "seed") {
      rest >> program.seed;
    } else if (first == "layout") {
      rest >> program.layout;
    } else if (first == "set") {
      std::string setting;
      rest >> setting;
      program.settings.push_back(setting);
    } else if (first == "places") {
      char slash = 0;
      for (Place place; rest >> place.process >> slash >> place.thread;)
        program.places.push_back(place);
    } else if (line.front() == ' ') {
      if (program.steps.empty()) throw std::runtime_error("a call before the first step");
      program.steps.back().calls.push_back(CallOf(Cut(line, number)));
    } else {
      program.steps.push_back(StepOf(Cut(line, number)));
    }
  }
  return program;
}

}  // namespace oracle
