#include "comm/plugin/profiler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"

namespace ringlet::comm {
namespace {

using collective::Call;
using collective::CallKind;
using collective::Message;
using nccl_abi::Event;

constexpr int kVersions[] = {6, 5};
constexpr int kNotVersions[] = {4, 3, 2, 1};
constexpr PluginKind kKind{.file_prefix = "libnccl-profiler",
                           .symbol_prefix = "ncclProfiler_v",
                           .versions = kVersions,
                           .not_versions = kNotVersions};
constexpr std::size_t kNameBytesMax = 64;
// NCCL's maximum. Plug-ins have arrays of this size.
constexpr std::uint32_t kChannelsMax = 64;

// An event is also reported if a plug-in requests only events below it, which name it as parent.
constexpr std::uint64_t kBelowCalls = nccl_abi::kProxyOperation | nccl_abi::kProxyStep |
                                      nccl_abi::kKernelChannel | nccl_abi::kNetPlugin;
constexpr std::uint64_t kForCollective = nccl_abi::kCollective | kBelowCalls;
constexpr std::uint64_t kForMessage = nccl_abi::kMessage | kBelowCalls;
constexpr std::uint64_t kForCollectiveCall = nccl_abi::kCollectiveCall | kForCollective;
constexpr std::uint64_t kForMessageCall = nccl_abi::kMessageCall | kForMessage;
constexpr std::uint64_t kForGroup = nccl_abi::kGroup | kForCollective | kForMessage;
constexpr std::uint64_t kForGroupCall = nccl_abi::kGroupCall | nccl_abi::kKernelLaunch | kForGroup |
                                        kForCollectiveCall | kForMessageCall;

/// Returns NCCL's name of its function.
const char* FunctionName(CallKind kind) {
  switch (kind) {
    case CallKind::kAllReduce: return "AllReduce";
    case CallKind::kAllGather: return "AllGather";
    case CallKind::kReduceScatter: return "ReduceScatter";
    case CallKind::kBroadcast: return "Broadcast";
    case CallKind::kReduce: return "Reduce";
    case CallKind::kAllToAll: return "AlltoAll";
    case CallKind::kGather: return "Gather";
    case CallKind::kScatter: return "Scatter";
    case CallKind::kAllToAllV:
    case CallKind::kBarrier:
    case CallKind::kSendReceive: break;
  }
  return "SendRecv";
}

/// Returns NCCL's name. For types that NCCL lacks, returns a name that shows the size.
const char* TypeName(DataType type) {
  switch (type) {
    case DataType::kInt8: return "ncclInt8";
    case DataType::kUint8: return "ncclUint8";
    case DataType::kInt32: return "ncclInt32";
    case DataType::kUint32: return "ncclUint32";
    case DataType::kInt64: return "ncclInt64";
    case DataType::kUint64: return "ncclUint64";
    case DataType::kFloat16: return "ncclFloat16";
    case DataType::kFloat32: return "ncclFloat32";
    case DataType::kFloat64: return "ncclFloat64";
    case DataType::kBfloat16: return "ncclBfloat16";
    case DataType::kFloat8e4m3: return "ncclFloat8e4m3";
    case DataType::kFloat8e5m2: return "ncclFloat8e5m2";
    case DataType::kBool: return "bool";
    case DataType::kInt16: return "int16";
  }
  return "unknown";
}

const char* FirstNull(const nccl_abi::Profiler& table) {
  if (table.init == nullptr) return "init";
  if (table.start == nullptr) return "startEvent";
  if (table.stop == nullptr) return "stopEvent";
  if (table.record == nullptr) return "recordEventState";
  if (table.finalize == nullptr) return "finalize";
  return nullptr;
}

}  // namespace

// ---- The plug-in --------------------------------------------------------------------------------

Result<std::unique_ptr<ProfilerPlugin>> ProfilerPlugin::Load(const std::string& value,
                                                             os::Logger& logger) {
  RINGLET_TRY_ASSIGN(const LoadedPlugin loaded, LoadPlugin(kKind, value));
  const auto& table = *static_cast<const nccl_abi::Profiler*>(loaded.table);
  if (const char* const missing = FirstNull(table))
    return Error{Code::kUnsupported,
                 fmt::format("{} lacks the function {} in ncclProfiler_v{}",
                             Printable(loaded.file, 256), missing, loaded.version)};
  auto plugin = std::unique_ptr<ProfilerPlugin>(new ProfilerPlugin(loaded, logger));
  logger.Log(LogLevel::kInfo, Subsystem::kInit, std::nullopt,
             fmt::format("{} receives events of operations, as ncclProfiler_v{} {}",
                         Printable(loaded.file, 256), loaded.version, plugin->name_));
  return plugin;
}

ProfilerPlugin::ProfilerPlugin(const LoadedPlugin& loaded, os::Logger& logger)
    : name_(Printable(static_cast<const nccl_abi::Profiler*>(loaded.table)->name != nullptr
                          ? static_cast<const nccl_abi::Profiler*>(loaded.table)->name
                          : "without a name",
                      kNameBytesMax)),
      functions_(static_cast<const nccl_abi::Profiler*>(loaded.table)),
      mask_(std::make_unique<int>(0)),
      logger_(logger),
      log_target_(logger) {}

std::uint64_t ProfilerPlugin::mask() const {
  return static_cast<std::uint32_t>(__atomic_load_n(mask_.get(), __ATOMIC_RELAXED));
}

void ProfilerPlugin::NoteError(const char* function, nccl_abi::Answer answer) {
  if (noted_.exchange(true)) return;
  logger_.Log(LogLevel::kWarn, Subsystem::kInit, std::nullopt,
              fmt::format("the profiler {} answered {} with error {}: it may miss operations; "
                          "further errors of it are not logged",
                          name_, function, answer));
}

// ---- One communicator ---------------------------------------------------------------------------

std::unique_ptr<Profile> Profile::Begin(ProfilerPlugin& plugin, const Identification& facts) {
  void* context = nullptr;
  const nccl_abi::Answer answer = plugin.functions().init(
      &context, facts.communicator, plugin.mask_place(), facts.name, static_cast<int>(facts.hosts),
      static_cast<int>(facts.ranks), static_cast<int>(Index(facts.rank)), PluginLog());
  if (answer != nccl_abi::kSuccess) {
    plugin.logger().Log(LogLevel::kWarn, Subsystem::kInit, std::nullopt,
                        fmt::format("the profiler {} refused communicator {:016x} with error {}: "
                                    "it receives no events of its operations",
                                    plugin.name(), facts.communicator, answer));
    return nullptr;
  }
  return std::unique_ptr<Profile>(new Profile(plugin, context, facts.rank));
}

Profile::~Profile() {
  if (context_ == nullptr) return;  // as NCCL does
  const nccl_abi::Answer answer = plugin_.functions().finalize(context_);
  if (answer != nccl_abi::kSuccess) plugin_.NoteError("finalize", answer);
}

Event Profile::NewEvent(nccl_abi::EventType type, void* parent) const {
  Event event{};
  event.type = type;
  event.parent = parent;
  event.rank = static_cast<int>(Index(rank_));
  return event;
}

void* Profile::Start(Event event) {
  void* handle = nullptr;
  const nccl_abi::Answer answer = plugin_.functions().start(context_, &handle, &event);
  if (answer == nccl_abi::kSuccess) return handle;
  plugin_.NoteError("startEvent", answer);
  return nullptr;
}

void Profile::Stop(void* handle) {
  if (handle == nullptr) return;
  const nccl_abi::Answer answer = plugin_.functions().stop(handle);
  if (answer != nccl_abi::kSuccess) plugin_.NoteError("stopEvent", answer);
}

void Profile::Record(void* handle, nccl_abi::ProfilerState state, nccl_abi::StateChange* change) {
  if (handle == nullptr) return;
  const nccl_abi::Answer answer = plugin_.functions().record(handle, state, change);
  if (answer != nccl_abi::kSuccess) plugin_.NoteError("recordEventState", answer);
}

Profile::EnclosingEvents Profile::OpenEnclosing(std::uint64_t mask, bool is_group) {
  EnclosingEvents frame{.mask = mask};
  Event event = NewEvent(nccl_abi::kGroupCall, nullptr);
  event.of.group_call.depth = is_group ? 2 : 1;
  frame.group_call = Start(event);
  Record(frame.group_call, nccl_abi::kGroupStartReturns, nullptr);
  return frame;
}

void Profile::Launch(EnclosingEvents& frame) {
  Record(frame.group_call, nccl_abi::kGroupEndBegins, nullptr);
  if ((frame.mask & nccl_abi::kKernelLaunch) != 0)
    Stop(Start(NewEvent(nccl_abi::kKernelLaunch, frame.group_call)));
  if ((frame.mask & kForGroup) != 0) frame.group = Start(NewEvent(nccl_abi::kGroup, nullptr));
}

void Profile::CloseEnclosing(const EnclosingEvents& frame) {
  Stop(frame.group);
  Stop(frame.group_call);
}

void* Profile::StartCall(const EnclosingEvents& frame, const Call& call) {
  if ((frame.mask & kForCollectiveCall) == 0) return nullptr;
  Event event = NewEvent(nccl_abi::kCollectiveCall, frame.group_call);
  event.of.collective_call = {.function = FunctionName(call.kind),
                              .count = call.count,
                              .data_type = TypeName(call.type),
                              .root = static_cast<int>(Index(call.root)),
                              .stream = nullptr,
                              .graph_captured = false};
  return Start(event);
}

void* Profile::StartCall(const EnclosingEvents& frame, const Message& message) {
  if ((frame.mask & kForMessageCall) == 0) return nullptr;
  Event event = NewEvent(nccl_abi::kMessageCall, frame.group_call);
  event.of.message_call = {.function = message.sends ? "Send" : "Recv",
                           .count = message.fingerprint.count,
                           .data_type = TypeName(message.fingerprint.type),
                           .stream = nullptr,
                           .graph_captured = false};
  return Start(event);
}

void Profile::StartChannels(const EnclosingEvents& frame, void* parent, std::uint32_t channels,
                            std::uint64_t now_ns) {
  if ((frame.mask & nccl_abi::kKernelChannel) == 0 || parent == nullptr) return;
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    Event event = NewEvent(nccl_abi::kKernelChannel, parent);
    event.of.kernel_channel = {.channel = static_cast<std::uint8_t>(channel), .time_ns = now_ns};
    if (void* const handle = Start(event)) running_.push_back(handle);
  }
}

void Profile::BeginCollective(const Call& call, const AlgorithmNames& way, std::uint64_t now_ns) {
  const std::uint64_t number = numbers_[static_cast<std::size_t>(call.kind)]++;
  const std::uint64_t mask = plugin_.mask();
  if ((mask & kForGroupCall) == 0 || call.kind == CallKind::kBarrier) return;
  EnclosingEvents frame = OpenEnclosing(mask, false);
  void* const its_call = StartCall(frame, call);
  Stop(its_call);
  Launch(frame);
  void* handle = nullptr;
  const std::uint32_t channels = std::min(way.channels, kChannelsMax);
  if ((mask & kForCollective) != 0) {
    Event event = NewEvent(nccl_abi::kCollective, its_call);
    event.of.collective = {.number = number,
                           .function = FunctionName(call.kind),
                           .send_buffer = call.input.data(),
                           .receive_buffer = call.output.data(),
                           .count = call.count,
                           .root = static_cast<int>(Index(call.root)),
                           .data_type = TypeName(call.type),
                           .channels = static_cast<std::uint8_t>(channels),
                           .warps = 0,
                           .algorithm = way.algorithm,
                           .protocol = way.protocol,
                           .group = frame.group};
    handle = Start(event);
  }
  Stop(handle);
  StartChannels(frame, handle, channels, now_ns);
  CloseEnclosing(frame);
}

void Profile::BeginMessages(std::span<const Message> messages, std::uint64_t now_ns) {
  const std::uint64_t mask = plugin_.mask();
  if ((mask & kForGroupCall) == 0 || messages.empty()) return;
  EnclosingEvents frame = OpenEnclosing(mask, messages.size() > 1);
  std::vector<void*> calls;
  for (const Message& message : messages) {
    calls.push_back(StartCall(frame, message));
    Stop(calls.back());
  }
  Launch(frame);
  for (std::size_t i = 0; i < messages.size() && (mask & kForMessage) != 0; ++i) {
    const Message& message = messages[i];
    Event event = NewEvent(nccl_abi::kMessage, calls[i]);
    event.of.message = {
        .function = message.sends ? "Send" : "Recv",
        .buffer = message.sends ? const_cast<std::byte*>(message.from.data()) : message.to.data(),
        .data_type = TypeName(message.fingerprint.type),
        .count = message.fingerprint.count,
        .peer = static_cast<int>(Index(message.peer)),
        .channels = 1,
        .group = frame.group};
    void* const handle = Start(event);
    Stop(handle);
    StartChannels(frame, handle, 1, now_ns);
  }
  CloseEnclosing(frame);
}

void Profile::End(std::uint64_t now_ns) {
  for (void* const handle : running_) {
    nccl_abi::StateChange change{};
    change.kernel_channel.time_ns = now_ns;
    Record(handle, nccl_abi::kKernelChannelStops, &change);
    Stop(handle);
  }
  running_.clear();
}

}  // namespace ringlet::comm
