// Questions to processes of this host over UNIX sockets in the abstract namespace.
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/value/address.hpp"
#include "os/fs/file_tree.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

struct LocalQuestion {
  std::string text = {};  ///< sent with a trailing newline
  std::size_t answer_bytes_max = 0;
  std::chrono::milliseconds timeout{};  ///< for all answers together
};

/// Sends the question to all processes at once. Returns, in their order, the data that each sent
/// until it closed the connection.
/// Errors  kPeerLost         no process listens there, or it has ended
///         kTimeout          it does not answer in time: it may be stopped
///         kInvalidArgument  the process belongs to another user except root
///         kProtocol         the answer is too long
std::vector<Result<std::string>> QueryProcesses(const std::vector<Address>& processes,
                                                const LocalQuestion& question);

/// The abstract names at which processes of this network namespace listen: unique, sorted.
/// Errors  kSystem, kUnsupported  as FileTree::Read of /proc/net/unix
Result<std::vector<std::string>> AbstractNames(const FileTree& files);

/// The names in the text of that file.
std::vector<std::string> AbstractNamesIn(std::string_view proc_net_unix);

}  // namespace ringlet::os
