// A connection for lines between a doctor and an agent: pipes of a child process, or a socket.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire/machine.hpp"
#include "programs/child.hpp"

namespace ringlet::cli {

inline constexpr std::size_t kAgentLineMax = std::size_t{8} << 20;

/// Splits bytes into lines of bounded length.
class LineReader {
 public:
  /// Returns false if a line is longer than kAgentLineMax.
  bool Push(std::string_view bytes);
  std::optional<std::string> Take();
  /// Waits for a line from a descriptor. Returns null if the peer has closed the connection.
  /// Errors  kTimeout; kProtocol  the line is too long; kSystem
  Result<std::optional<std::string>> Await(int fd, Instant until);

 private:
  std::string buffer_;
};

/// Writes a line and a newline. Errors  kTimeout, kPeerLost
Status WriteLine(int fd, std::string_view line, Instant until);

/// The doctor's end of the connection.
class AgentLine {
 public:
  /// Starts a program that becomes an agent, such as ssh. Errors  kSystem
  static Result<AgentLine> Start(std::string host, os::Command command);
  AgentLine(std::string host, os::Fd socket);
  AgentLine(AgentLine&&) = default;
  AgentLine& operator=(AgentLine&&) = delete;

  const std::string& host() const { return host_; }
  Status Send(std::string_view line, Instant until);
  /// Appends the descriptors that become readable when data arrives.
  void AddDescriptors(std::vector<int>& descriptors) const;
  /// Reads the data that has arrived. Does not block.
  void Pump();
  std::optional<std::string> Take() { return reader_.Take(); }
  /// Returns why no more lines will arrive; empty while the connection is open.
  const std::string& over() const { return over_; }

 private:
  explicit AgentLine(std::string host) : host_(std::move(host)) {}
  void ReadErrors();
  std::string Ending();

  std::string host_;
  std::optional<os::Child> child_;
  os::Fd write_, socket_;
  LineReader reader_;
  std::string errors_;  // the last error output of the program
  std::string over_;
};

}  // namespace ringlet::cli
