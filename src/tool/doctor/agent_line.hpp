// A connection between a doctor and an agent, line by line: pipes of a child, or a socket.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire/machine.hpp"
#include "programs/child.hpp"

namespace ringlet::cli {

inline constexpr std::size_t kAgentLineMax = std::size_t{8} << 20;

/// Lines out of bytes, with a bound.
class LineReader {
 public:
  /// False: a line is longer than kAgentLineMax.
  bool Push(std::string_view bytes);
  std::optional<std::string> Take();
  /// Waits for a line of a descriptor; nothing: the other side has closed.
  /// Errors  kTimeout; kProtocol  the line is too long; kSystem
  Result<std::optional<std::string>> Await(int fd, Instant until);

 private:
  std::string buffer_;
};

/// Writes a line and its newline. Errors  kTimeout, kPeerLost
Status WriteLine(int fd, std::string_view line, Instant until);

/// The doctor's side.
class AgentLine {
 public:
  /// Starts a program that becomes an agent, as ssh does. Errors  kSystem
  static Result<AgentLine> Start(std::string host, os::Command command);
  AgentLine(std::string host, os::Fd socket);
  AgentLine(AgentLine&&) = default;
  AgentLine& operator=(AgentLine&&) = delete;

  const std::string& host() const { return host_; }
  Status Send(std::string_view line, Instant until);
  /// One of these is readable when something waits to be read.
  void AddDescriptors(std::vector<int>& descriptors) const;
  /// Reads what has arrived. Does not block.
  void Pump();
  std::optional<std::string> Take() { return reader_.Take(); }
  /// Why there will be no more lines; empty: there may be.
  const std::string& over() const { return over_; }

 private:
  explicit AgentLine(std::string host) : host_(std::move(host)) {}
  void ReadErrors();
  std::string Ending();

  std::string host_;
  std::optional<os::Child> child_;
  os::Fd write_, socket_;
  LineReader reader_;
  std::string errors_;  // the last of what the program said
  std::string over_;
};

}  // namespace ringlet::cli
