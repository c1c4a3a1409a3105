#include "draw.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "dice.hpp"
#include "thresholds.hpp"

namespace oracle {
namespace {

constexpr std::size_t kMaxComms = 5;  // alive at a time
constexpr int kCommsDrawn = 200;      // per program
constexpr int kWorld = 0;             // the communicator of all ranks

class Drawing {
 public:
  Drawing(std::uint64_t seed, const Layout& layout, const DrawOptions& taste)
      : layout_(layout), taste_(taste), dice_(seed ^ 0x6f7261636c65) {
    program_.seed = seed;
    program_.layout = layout.name;
    const int ranks =
        dice_.OneIn(8) ? layout.ranks_max : dice_.Between(layout.ranks_min, layout.ranks_max);
    program_.places = DrawPlaces(layout, ranks, dice_);
  }

  Program Run() {
    if (dice_.OneIn(2) && With("settings")) Settings();
    Add(FormOf(AllRanks()));
    while (calls_ < taste_.calls) Anything();
    if (taste_.fault_one_in > 0 && program_.ranks() > 1 && dice_.OneIn(taste_.fault_one_in))
      Fault();
    return std::move(program_);
  }

 private:
  void Add(Step step) {
    Apply(step, world_);
    calls_ += static_cast<int>(step.calls.size());
    program_.steps.push_back(std::move(step));
  }

  bool With(const char* what) const { return taste_.without.count(what) == 0; }

  void Anything() {
    const int what = dice_.Below(100);
    const bool room = world_.members.size() < kMaxComms && next_comm_ < kCommsDrawn;
    if (what < 8 && With("apart")) return Apart(room);
    if (what >= 8 && what < 10 && With("child")) return Child(dice_.Below(program_.ranks()));
    if (what >= 58 && what < 60 && room && With("grow")) return Grow();
    if (what >= 60 && what < 66 && With("put")) return Put();
    if (what >= 66 && what < 84 && With("group")) return Group();
    if (what >= 84 && what < 87 && With("empty")) return Empty();
    if (what >= 87 && what < 89 && With("simulate")) return Simulated();
    if (what >= 89 && what < 92 && room && With("split")) return Split();
    if (what >= 92 && what < 94 && room && With("shrink")) return Shrink();
    if (what >= 94 && what < 97 && room && With("form")) return FormAnother();
    if (what >= 89 && world_.members.size() > 1 && With("destroy")) return Destroy();
    Single();
  }

  // ---- Settings ----

  void Settings() {
    static const std::vector<std::string> links = {"RINGLET_HOST_MEMORY=0", "RINGLET_LINKS=tcp",
                                                   "RINGLET_LINKS=shm", "RINGLET_SHM_DISABLE=1"};
    static const std::vector<std::string> small = {
        "RINGLET_PIPE_BYTES=4096", "RINGLET_PIPE_BYTES=65536", "RINGLET_SOCKETS_PER_LINK=3",
        "RINGLET_WAIT=sleep",      "RINGLET_WAIT=spin",        "RINGLET_WAIT=yield",
        "RINGLET_NUMA_RANKS=2",    "RINGLET_BOOTSTRAP=ring",   "RINGLET_ENCRYPT=1",
        "RINGLET_NODE_LEADER=0"};
    static const std::vector<std::string> algorithms = {
        "all_reduce:ring",    "all_reduce:doubling",    "all_reduce:halving",
        "reduce:binomial",    "all_reduce:double_tree", "reduce:double_tree",
        "broadcast:binomial", "broadcast:ring",         "broadcast:double_tree",
        "all_gather:bruck",   "all_gather:direct",      "reduce_scatter:halving",
        "all_to_all:bruck",   "all_to_all:direct",      "reduce_scatter:direct",
        "all_gather:ring",    "reduce_scatter:ring",    "reduce:ring"};
    auto& settings = program_.settings;
    static const std::vector<std::string> of_nccl = {
        "NCCL_ALGO=allreduce:Tree",  "NCCL_ALGO=allreduce:Ring",
        "NCCL_PROTO=Simple",         "NCCL_PROTO=LL",
        "NCCL_MAX_NCHANNELS=3",      "NCCL_MIN_NCHANNELS=16",
        "RINGLET_PLAN_POLICY=compat"};
    if (layout_.trouble == Handicap::kMachine) {
      if (dice_.OneIn(2)) settings.push_back(dice_.Of(of_nccl));
      if (dice_.OneIn(2)) settings.push_back(dice_.Of(small));
      return;
    }
    const bool hosts = layout_.trouble == Handicap::kTwoHosts ||
                       layout_.trouble == Handicap::kTwoHostsLoopback ||
                       layout_.trouble == Handicap::kSeveralHosts;
    if (dice_.OneIn(2)) {
      const std::string link = dice_.Of(links);
      // Different hosts share no memory, nor do ranks without a common process identity.
      if (!(hosts && link == "RINGLET_LINKS=shm")) settings.push_back(link);
      if (dice_.OneIn(2)) settings.push_back("RINGLET_HOST_ALGO=" + dice_.Of(algorithms));
    }
    if (dice_.OneIn(2)) settings.push_back(dice_.Of(small));
  }

  // ---- Communicators ----

  std::vector<int> AllRanks() const {
    std::vector<int> ranks(program_.places.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }

  int AnyComm() {
    if (dice_.OneIn(2) && world_.members.count(kWorld)) return kWorld;
    std::vector<int> alive;
    for (const auto& [comm, ranks] : world_.members) alive.push_back(comm);
    return dice_.Of(alive);
  }

  int NewComm(int many = 1) {
    const int comm = next_comm_;
    next_comm_ += many;
    return comm;
  }

  Step FormOf(std::vector<int> ranks) {
    Step step;
    step.what = What::kForm;
    step.comm = NewComm();
    const bool one_thread =
        std::all_of(program_.places.begin(), program_.places.end(),
                    [&](const Place& place) { return place == program_.places.front(); });
    step.all = one_thread && dice_.OneIn(3);
    step.nonblocking = !step.all && dice_.OneIn(8) && With("nonblocking");
    step.scalable = !step.all && ranks.size() > 1 && dice_.OneIn(8) && With("scalable");
    step.depth = dice_.OneIn(4) ? 1 : 0;
    step.ranks = std::move(ranks);
    return step;
  }

  std::vector<int> Shuffled(int n) {
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    for (int i = n - 1; i > 0; --i)
      std::swap(order[static_cast<std::size_t>(i)],
                order[static_cast<std::size_t>(dice_.Below(i + 1))]);
    return order;
  }

  void FormAnother() {
    std::vector<int> ranks = Shuffled(program_.ranks());
    ranks.resize(static_cast<std::size_t>(dice_.Between(1, program_.ranks())));
    Add(FormOf(ranks));
  }

  // The library refuses overlapping shrinks of one parent while both children live.
  bool HasShrunk(int comm) const {
    return std::any_of(program_.steps.begin(), program_.steps.end(), [&](const Step& step) {
      return step.what == What::kShrink && step.comm == comm;
    });
  }

  void Split() {
    Step step;
    step.what = What::kSplit;
    step.comm = AnyComm();
    const int colors = dice_.Between(1, 3);
    step.made = NewComm(colors);
    for (std::size_t r = 0; r < world_.members.at(step.comm).size(); ++r) {
      step.colors.push_back(dice_.OneIn(6) ? -1 : dice_.Below(colors));
      step.keys.push_back(dice_.Between(-2, 2));
    }
    step.depth = dice_.OneIn(3) ? 1 : 0;
    Add(step);
  }

  void Shrink() {
    Step step;
    step.what = What::kShrink;
    step.comm = AnyComm();
    const int size = static_cast<int>(world_.members.at(step.comm).size());
    if (size < 2 || HasShrunk(step.comm)) return;
    step.ranks = Shuffled(size);
    step.ranks.resize(static_cast<std::size_t>(dice_.Between(1, size - 1)));
    step.made = NewComm();
    step.depth = dice_.OneIn(3) ? 1 : 0;
    Add(step);
  }

  void Grow() {
    Step step;
    step.what = What::kGrow;
    step.comm = AnyComm();
    const std::vector<int>& members = world_.members.at(step.comm);
    for (const int rank : Shuffled(program_.ranks()))
      if (std::count(members.begin(), members.end(), rank) == 0) step.ranks.push_back(rank);
    if (step.ranks.empty()) return;
    step.ranks.resize(
        static_cast<std::size_t>(dice_.Between(1, static_cast<int>(step.ranks.size()))));
    step.made = NewComm();
    step.depth = dice_.OneIn(3) ? 1 : 0;
    Add(step);
  }

  void Put() {
    Step step;
    step.what = What::kPut;
    step.comm = AnyComm();
    step.shift = dice_.Below(static_cast<int>(world_.members.at(step.comm).size()) + 1);
    step.repeat = dice_.OneIn(2) ? 1 : dice_.Between(2, 7);
    step.bytes = dice_.OneIn(8) ? 0 : dice_.Below(kPutBytesMax / step.repeat);
    if (dice_.OneIn(2)) step.bytes %= 300;
    step.depth = dice_.OneIn(2) ? 1 : 0;
    if (With("streams") && dice_.OneIn(3)) step.streams = dice_.Between(1, kStreamsMax);
    Add(step);
  }

  void Destroy() {
    Step step;
    step.what = What::kDestroy;
    step.comm = AnyComm();
    if (step.comm == kWorld && !dice_.OneIn(4)) return;
    step.finalize = dice_.OneIn(3);
    step.depth = dice_.OneIn(3) ? 1 : 0;
    step.made = dice_.Below(2);
    Add(step);
  }

  // ---- Calls ----

  void MaybeStreams(Step& step, int one_in) {
    if (!With("streams") || (!taste_.streamed && !dice_.OneIn(one_in))) return;
    step.streams = dice_.Between(1, kStreamsMax);
    if (With("graphs") && dice_.OneIn(3)) step.launches = dice_.Between(1, 4);
  }

  /// Without a graph, because a call on the null stream cannot be captured. In a group, calls on
  /// nonblocking communicators either all have streams, or none has one.
  void MaybeNullToo(Step& step) {
    if (step.streams == 0 || step.launches > 0 || !With("null_too") || dice_.OneIn(4)) return;
    step.null_too = std::none_of(step.calls.begin(), step.calls.end(), [&](const Call& call) {
      return world_.nonblocking.at(call.comm);
    });
  }

  /// Calls issued one by one, before a wait for the first.
  void Streamed() {
    Step step;
    MaybeStreams(step, 1);
    const int calls = dice_.Between(2, 6);
    for (int i = 0; i < calls; ++i) step.calls.push_back(AnyCall(AnyComm()));
    MaybeNullToo(step);
    MaybeLate(step);
    Add(step);
  }

  /// Calls on several communicators, with one thread for each.
  void Apart(bool room) {
    if (world_.members.size() < 2 && room) Add(FormOf(Shuffled(program_.ranks())));
    Step step;
    step.apart = true;
    const int calls = dice_.Between(4, 12);
    for (int i = 0; i < calls; ++i) step.calls.push_back(AnyCall(AnyComm()));
    step.depth = dice_.OneIn(3) ? 1 : 0;
    MaybeStreams(step, 4);
    MaybeNullToo(step);
    MaybeLate(step);
    Add(step);
  }

  void Child(int rank) {
    Step step;
    step.what = What::kChild;
    step.rank = rank;
    Add(step);
  }

  void Single() {
    if (With("streams") && dice_.OneIn(6)) return Streamed();
    Step step;
    step.calls.push_back(AnyCall(AnyComm()));
    step.depth = dice_.OneIn(6) ? dice_.Between(1, 3) : 0;
    MaybeStreams(step, 4);
    MaybeLate(step);
    Add(step);
  }

  void Group() {
    Step step;
    step.depth = dice_.OneIn(3) ? dice_.Between(2, 3) : 1;
    step.shuffled = dice_.OneIn(2);
    const bool mixed = dice_.OneIn(2);
    const int comm = AnyComm();
    const int calls = dice_.Between(2, 6);
    for (int i = 0; i < calls; ++i) {
      // A group cannot mix blocking communicators and others.
      const int other = mixed ? AnyComm() : comm;
      const bool fits = world_.nonblocking.at(other) == world_.nonblocking.at(comm);
      step.calls.push_back(AnyCall(fits ? other : comm));
    }
    MaybeStreams(step, 2);
    MaybeNullToo(step);
    MaybeLate(step);
    Add(step);
  }

  void Empty() {
    Step step;
    step.depth = dice_.Between(1, 3);
    Add(step);
  }

  void Simulated() {
    Step step;
    step.depth = dice_.Between(1, 2);
    step.simulate = true;
    if (!dice_.OneIn(4)) step.calls.push_back(AnyCall(AnyComm()));
    Add(step);
  }

  void MaybeLate(Step& step) {
    if (!dice_.OneIn(8)) return;
    step.rank = dice_.Below(program_.ranks());
    step.us = dice_.OneIn(4) ? dice_.Between(500, 5000) : dice_.Between(1, 300);
    // Long enough for the others to query the rank: after one second, and after two.
    if (layout_.delayed && dice_.OneIn(2))
      step.us =
          dice_.OneIn(2) ? dice_.Between(200'000, 1'500'000) : dice_.Between(2'000'000, 2'600'000);
  }

  Call AnyCall(int comm) {
    Call call;
    const int n = static_cast<int>(world_.members.at(comm).size());
    call.id = next_id_++;
    call.comm = comm;
    call.kind = static_cast<Kind>(dice_.Below(kKinds));
    call.type = static_cast<Type>(dice_.Below(kTypes));
    call.op = static_cast<Op>(dice_.Below(kOps));
    call.values = static_cast<Values>(dice_.Below(kValues));
    call.root = dice_.Below(n);
    call.in_place = dice_.OneIn(3);
    call.null_unused = dice_.OneIn(3);
    call.memory = layout_.same_places ? Memory::kFixed : AnyMemory();
    if (dice_.OneIn(3)) call.misalign = Misaligned(call);
    call.shift = dice_.Between(0, n);
    call.repeat = dice_.OneIn(3) ? dice_.Between(2, 5) : 1;
    call.ungrouped =
        n % 2 == 0 && call.shift % 2 == 1 && !world_.nonblocking.at(comm) && dice_.OneIn(2);
    call.late_scalar = dice_.OneIn(2) && With("late_scalar");
    call.count = Count(call, n);
    if (dice_.OneIn(5) && With("selection"))
      call.selection = 1 + dice_.Below(static_cast<int>(kSelections.size()));
    return call;
  }

  Memory AnyMemory() {
    const auto memory = static_cast<Memory>(dice_.Below(kMemories));
    return layout_.trouble == Handicap::kFileSize && memory == Memory::kFile ? Memory::kMmap
                                                                             : memory;
  }

  unsigned Misaligned(const Call& call) {
    if (call.memory == Memory::kWindow && dice_.OneIn(2)) return 0;
    const auto size = static_cast<int>(SizeOf(call.type));
    return static_cast<unsigned>(dice_.OneIn(2) ? dice_.Between(1, 63) : size * dice_.Below(8));
  }

  /// Upper bound on the elements that all ranks of a call process together; bounds time and memory.
  static std::size_t CountMax(const Call& call, int n, std::size_t work) {
    const auto ranks = static_cast<std::size_t>(n);
    std::size_t each = ranks;  // elements compared or reduced in total, per element of the count
    if (Reduces(call.kind)) each = call.kind == Kind::kReduce ? 2 * ranks : ranks * ranks;
    if (call.kind == Kind::kAllGather || call.kind == Kind::kAllToAll) each = ranks * ranks;
    if (call.kind == Kind::kSendRecv) each *= static_cast<std::size_t>(call.repeat);
    return std::max<std::size_t>(1, work / each);
  }

  std::size_t Count(const Call& call, int n) {
    const int luck = dice_.Below(1000);
    if (luck < 40) return 0;
    if (luck < 80) return 1;
    if (luck < 350) return static_cast<std::size_t>(dice_.Below(300));
    if (taste_.huge && luck >= 995) return HugeCount(call, n);
    const std::size_t work = luck >= 998 ? 16 << 20 : luck >= 950 ? 1 << 20 : 1 << 17;
    const std::size_t most = CountMax(call, n, work);
    if (luck < 500) return Below(kPrimes, most);
    return NearThreshold(call, n, most);
  }

  template <std::size_t N>
  std::size_t Below(const std::array<std::size_t, N>& list, std::size_t most) {
    const auto end = std::upper_bound(list.begin(), list.end(), most);
    if (end == list.begin()) return most;
    return list[static_cast<std::size_t>(dice_.Below(static_cast<int>(end - list.begin())))];
  }

  std::size_t NearThreshold(const Call& call, int n, std::size_t most) {
    const std::size_t size = SizeOf(call.type);
    const auto ranks = static_cast<std::size_t>(n);
    if (dice_.OneIn(12)) return std::min(most, Below(kThresholdElements, most) + RequestTick(4));
    // For the call's blocks one by one, or for all of them.
    const std::size_t parts = dice_.OneIn(3) ? ranks : 1;
    const std::size_t bytes = Below(kThresholdBytes, most * size * parts);
    return std::min(most, bytes / parts / size + RequestTick(2));
  }

  /// Returns -far to far, usually near 0; as a wrapping offset.
  std::size_t RequestTick(int far) {
    const int nudge = dice_.OneIn(4) ? dice_.Between(-64, 64) : dice_.Between(-far, far);
    return static_cast<std::size_t>(nudge);
  }

  std::size_t HugeCount(const Call& call, int n) {
    const std::size_t bytes = (std::size_t{1} << 31) + 4096;
    const bool blocks = OutputCount(Call{.kind = call.kind, .count = 1}, n, 0) > 1 ||
                        InputCount(Call{.kind = call.kind, .count = 1}, n, 0) > 1;
    return bytes / SizeOf(call.type) / (blocks ? static_cast<std::size_t>(n) : 1);
  }

  // ---- Faults ----

  Call WholeCall(int comm) {
    Call call;
    call.id = next_id_++;
    call.comm = comm;
    call.count = static_cast<std::size_t>(dice_.OneIn(2) ? dice_.Between(1, 64) : 20'000);
    if (layout_.same_places) call.memory = Memory::kFixed;
    return call;
  }

  void AddRun(Call call) {
    Step step;
    step.calls.push_back(call);
    MaybeStreams(step, 3);
    Add(step);
  }

  bool Alone(int rank) const {
    const int process = program_.places[static_cast<std::size_t>(rank)].process;
    return std::count_if(program_.places.begin(), program_.places.end(),
                         [&](const Place& place) { return place.process == process; }) == 1;
  }

  /// The rank has calls on streams that no other rank makes.
  void AddCallsBeforeAbort(Step& fault) {
    MaybeStreams(fault, 2);
    if (fault.streams == 0) return;
    fault.us = dice_.OneIn(2) ? 0 : dice_.Between(1, 2000);
    const int calls = dice_.Between(1, 4);
    for (int i = 0; i < calls; ++i) {
      Call& call = fault.calls.emplace_back(WholeCall(kWorld));
      call.count = 100;  // unlike any call of the other ranks
    }
  }

  void Fault() {
    if (!world_.members.count(kWorld)) return;
    const int rank = dice_.Below(program_.ranks());
    const int what = dice_.Below(4);
    Step fault;
    fault.comm = kWorld;
    fault.rank = rank;
    if (what == 0 && Alone(rank) && With("kill")) {
      if (dice_.OneIn(2) && With("child")) Child(rank);
      fault.what = What::kKill;
      fault.us = dice_.OneIn(3) ? 0 : dice_.Between(1, 2000);
      Add(fault);
    } else if (what == 1 && With("revoke")) {
      fault.what = What::kRevoke;
      AddCallsBeforeAbort(fault);
      Add(fault);
    } else if (what == 2 && OneRankAThread() && With("abort")) {
      fault.what = What::kAbort;
      AddCallsBeforeAbort(fault);
      Add(fault);
    } else if (With("mismatch")) {
      AddRun(Mismatched(rank));
    } else {
      return;
    }
    for (int i = 0; i < 3; ++i) AddRun(WholeCall(kWorld));
    if (HasShrunk(kWorld)) return;
    if (fault.what == What::kKill || fault.what == What::kRevoke) Rescue(rank);
  }

  // A thread that drives several ranks cannot continue with the remaining ones in a group.
  bool OneRankAThread() const {
    for (std::size_t i = 0; i < program_.places.size(); ++i)
      if (std::count(program_.places.begin(), program_.places.end(), program_.places[i]) > 1)
        return false;
    return true;
  }

  Call Mismatched(int rank) {
    Call call = AnyCall(kWorld);
    if (call.kind == Kind::kSendRecv) call.kind = Kind::kAllReduce;
    if (call.op == Op::kPreMulSum) call.op = Op::kSum;
    call.count = static_cast<std::size_t>(dice_.OneIn(2) ? dice_.Between(1, 64) : 20'000);
    if (call.memory >= Memory::kNccl) call.memory = Memory::kMmap;  // registering may fail first
    call.odd_rank = rank;
    std::vector<Odd> odds = {Odd::kCount, Odd::kType, Odd::kKind};
    if (Reduces(call.kind)) odds.push_back(Odd::kOp);
    if (HasRoot(call.kind)) odds.push_back(Odd::kRoot);
    call.odd = dice_.Of(odds);
    return call;
  }

  void Rescue(int without) {
    Step step;
    step.what = What::kShrink;
    step.comm = kWorld;
    step.ranks = {without};
    step.broken = true;
    step.made = NewComm();
    Add(step);
    for (int i = 0; i < 2; ++i) AddRun(WholeCall(step.made));
  }

  const Layout& layout_;
  DrawOptions taste_;
  Dice dice_;
  Program program_;
  World world_;
  int calls_ = 0;
  int next_comm_ = 0;
  std::uint32_t next_id_ = 1;
};

}  // namespace

Program Draw(std::uint64_t seed, const Layout& layout, const DrawOptions& taste) {
  return Drawing(seed, layout, taste).Run();
}

}  // namespace oracle
