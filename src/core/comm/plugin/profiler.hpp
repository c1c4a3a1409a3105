// NCCL's profiler plug-ins. A process loads one and reports the operations of each communicator as
// NCCL does, so that NCCL's Inspector and others work.
//
// An operation is reported when it begins to run. On a stream this is later than the call, and so
// are the group and API events, which are short. Each channel of it has a "kernel channel" event
// from its beginning to its end, by the clock of the host. Proxy and network events do not exist,
// because no thread moves data for a rank.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/call/call.hpp"
#include "collective/exec/messages.hpp"
#include "comm/plugin/plugin_library.hpp"

namespace ringlet::comm {

class ProfilerPlugin {
 public:
  /// \param value  of the setting, not empty \param logger  outlives this
  /// Errors  as LoadPlugin; kUnsupported  a function is null: names it
  static Result<std::unique_ptr<ProfilerPlugin>> Load(const std::string& value, os::Logger& logger);

  const std::string& name() const { return name_; }
  const nccl_abi::Profiler& functions() const { return *functions_; }
  /// Returns the requested events. A plug-in may change them at any time.
  std::uint64_t mask() const;
  /// Returns the mask's address for the plug-in, which keeps it.
  int* mask_place() { return mask_.get(); }
  os::Logger& logger() { return logger_; }
  /// Logs the first error of the plug-in. Errors do not matter otherwise.
  void NoteError(const char* function, nccl_abi::Answer answer);

 private:
  ProfilerPlugin(const LoadedPlugin& loaded, os::Logger& logger);

  const std::string name_;
  const nccl_abi::Profiler* functions_;
  const std::unique_ptr<int> mask_;
  os::Logger& logger_;
  const PluginLogTarget log_target_;
  std::atomic<bool> noted_{false};
};

/// The events of one communicator, as reported to a plug-in. One thread at a time.
class Profile {
 public:
  struct Identification {
    std::uint64_t communicator = 0;  ///< its public name
    const char* name = nullptr;      ///< the user's, or null
    std::uint32_t hosts = 1, ranks = 1;
    Rank rank{};
  };
  /// The algorithm of a collective, in words with static storage.
  struct AlgorithmNames {
    const char* algorithm = "";
    const char* protocol = "";
    std::uint32_t channels = 1;
  };

  /// Returns null if the plug-in refuses the communicator, which is logged.
  static std::unique_ptr<Profile> Begin(ProfilerPlugin& plugin, const Identification& facts);
  /// Ends the context in the plug-in.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// A collective, or messages that run together, begin. End is called before the next. Barriers,
  /// which NCCL lacks, are not reported. \param now_ns  by the clock of the host
  void BeginCollective(const collective::Call& call, const AlgorithmNames& way,
                       std::uint64_t now_ns);
  void BeginMessages(std::span<const collective::Message> messages, std::uint64_t now_ns);
  /// The operation is over, or has failed.
  void End(std::uint64_t now_ns);

 private:
  /// The events that enclose the calls of one group.
  struct EnclosingEvents {
    std::uint64_t mask = 0;
    void* group_call = nullptr;
    void* group = nullptr;
  };
  Profile(ProfilerPlugin& plugin, void* context, Rank rank)
      : plugin_(plugin), context_(context), rank_(rank) {}
  nccl_abi::Event NewEvent(nccl_abi::EventType type, void* parent) const;
  /// Returns the handle, or null if the plug-in supplies none.
  void* Start(nccl_abi::Event event);
  void Stop(void* handle);
  void Record(void* handle, nccl_abi::ProfilerState state, nccl_abi::StateChange* change);
  EnclosingEvents OpenEnclosing(std::uint64_t mask, bool is_group);
  /// Called after the calls of the group.
  void Launch(EnclosingEvents& frame);
  void CloseEnclosing(const EnclosingEvents& frame);
  void* StartCall(const EnclosingEvents& frame, const collective::Call& call);
  void* StartCall(const EnclosingEvents& frame, const collective::Message& message);
  void StartChannels(const EnclosingEvents& frame, void* parent, std::uint32_t channels,
                     std::uint64_t now_ns);

  ProfilerPlugin& plugin_;
  void* const context_;
  const Rank rank_;
  std::array<std::uint64_t, collective::kCallKinds> numbers_{};  // calls so far, by kind
  std::vector<void*> running_;                                   // kernel channel events
};

}  // namespace ringlet::comm
