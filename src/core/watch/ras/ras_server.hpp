// The protocol of NCCL's RAS, as its server speaks it, without I/O: lines of commands, a report,
// and the connection closes; or events until the client goes.
//
// Bounds: kClientsMax connections, of which kMonitorsMax hear events; a line of kLineBytesMax; one
// look at the job at a time, whose report all get that ask meanwhile. A new
// client takes the place of the one that has been silent for longest without a command, if need be.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/wire/machine.hpp"
#include "watch/job.hpp"
#include "watch/ras/ras_event.hpp"

namespace ringlet::watch {

class RasServer final : public Machine {
 public:
  static constexpr std::size_t kClientsMax = 64;
  static constexpr std::size_t kMonitorsMax = 8;
  static constexpr std::size_t kLineBytesMax = 1024;
  /// Each has an answer, which a client may leave unread.
  static constexpr std::size_t kCommandsMax = 64;
  /// Of all events to one client that does not read them.
  static constexpr std::size_t kMonitorBytesMax = std::size_t{16} << 20;
  /// For a command to come.
  static constexpr Instant kCommandTimeout = std::chrono::seconds(10);
  /// For the ranks to answer, whatever longer time a client gives them: those that can do so at
  /// once. Clients of NCCL end their own wait a little after the time that they have given.
  static constexpr Instant kLookTimeoutMax = std::chrono::seconds(2);
  static constexpr Instant kMonitorPeriod = std::chrono::seconds(1);
  static constexpr unsigned kProtocolVersion = 2;

  struct Owner {
    std::string nccl_version;
    /// Asks all ranks what they do; OnLook tells, later.
    std::function<void()> look;
    /// Time is up: the job as far as it is known.
    std::function<std::vector<JobStatus>()> give_up;
    std::function<std::string()> timestamp;
  };
  explicit RasServer(Owner owner) : owner_(std::move(owner)) {}

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return false; }

  /// The result of a look. The owner gives the machine a turn afterwards.
  void OnLook(const std::vector<JobStatus>& jobs, Instant now);

 private:
  struct Client {
    Instant expires{0};  ///< zero: never
    Instant called{0};
    std::string unread = {};
    std::size_t commands = 0;
    bool has_spoken = false;  ///< a command that is one
    bool json = false;
    Instant timeout = kLookTimeoutMax;
    bool waits = false;  ///< for a report
    bool verbose = false;
    RasEvents events = kNoEvents;
    std::size_t event_bytes = 0;
  };
  void OnAccepted(LineId line, Instant now);
  void OnReceived(const Received& event, Instant now);
  void OnTick(Instant now);
  void OnCommand(LineId line, Client& client, std::string_view command, Instant now);
  std::string SetTimeout(Client& client, std::string_view seconds);
  std::string SetFormat(Client& client, std::string_view format);
  std::string Monitor(Client& client, std::string_view events, Instant now);
  void Report(LineId line, Client& client, bool verbose, Instant now);
  void Look(Instant now, Instant timeout);
  void TellEvents(const std::vector<RasPeer>& peers);
  bool HasMonitors() const;
  void Say(LineId line, std::string_view text);
  void HangUp(LineId line);

  const Owner owner_;
  std::map<LineId, Client> clients_;
  std::optional<Instant> look_began_;
  Instant look_expires_{0};
  Instant next_look_{0};                       // for those that monitor; zero: none does
  std::optional<std::vector<RasPeer>> peers_;  // of the last look while a client monitors
};

}  // namespace ringlet::watch
