// The server of NCCL's RAS protocol, without I/O. A client sends lines of commands. The server
// sends a report and closes the connection, or sends events until the client disconnects.
//
// Bounds: kClientsMax connections; kMonitorsMax of them receive events; kLineBytesMax per line; one
// look at the job at a time, with one report for all clients that request it meanwhile. At the
// limit, a new client replaces the one that has sent no command for the longest time.
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
  /// Limits answers, because each command has one, which a client may leave unread.
  static constexpr std::size_t kCommandsMax = 64;
  /// Limits unread events of one client.
  static constexpr std::size_t kMonitorBytesMax = std::size_t{16} << 20;
  /// Time limit to receive a command.
  static constexpr Instant kCommandTimeout = std::chrono::seconds(10);
  /// Time limit for the ranks' answers, even if a client allows more. Responsive ranks answer
  /// within it. NCCL's clients wait a little longer than the time that they request.
  static constexpr Instant kLookTimeoutMax = std::chrono::seconds(2);
  static constexpr Instant kMonitorPeriod = std::chrono::seconds(1);
  static constexpr unsigned kProtocolVersion = 2;

  struct Owner {
    std::string nccl_version;
    /// Queries all ranks for their operations; the owner calls OnLook later.
    std::function<void()> look;
    /// Returns the known part of the job when the time is up.
    std::function<std::vector<JobStatus>()> give_up;
    std::function<std::string()> timestamp;
  };
  explicit RasServer(Owner owner) : owner_(std::move(owner)) {}

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return false; }

  /// Receives the result of a look. The owner gives the machine a turn afterwards.
  void OnLook(const std::vector<JobStatus>& jobs, Instant now);

 private:
  struct Client {
    Instant expires{0};  ///< zero: never
    Instant called{0};
    std::string unread = {};
    std::size_t commands = 0;
    bool has_spoken = false;  ///< it has sent a valid command
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
  void SendEvents(const std::vector<RasPeer>& peers);
  bool HasMonitors() const;
  void SendText(LineId line, std::string_view text);
  void HangUp(LineId line);

  const Owner owner_;
  std::map<LineId, Client> clients_;
  std::optional<Instant> look_began_;
  Instant look_expires_{0};
  Instant next_look_{0};                       // for monitors; zero: no client monitors
  std::optional<std::vector<RasPeer>> peers_;  // from the last look while a client monitors
};

}  // namespace ringlet::watch
