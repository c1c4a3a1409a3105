#include "tool/watch/processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "comm/process/parts/process_states.hpp"
#include "os/fs/file_tree.hpp"
#include "os/net/local_ask.hpp"
#include "os/process/host.hpp"
#include "os/process/process_state.hpp"
#include "watch/server.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kProcessesMax = 1024;
// A process answers at once. It waits at most Server::kAnswerTimeout for its peers.
constexpr std::chrono::milliseconds kStatusTimeout(1000);
constexpr std::chrono::milliseconds kPeersTimeout(4000);

using Statuses = std::vector<watch::ProcessStatus>;

os::LocalQuestion StatusQuestion(std::string text, std::chrono::milliseconds timeout) {
  return {.text = std::move(text), .answer_bytes_max = watch::kStatusBytesMax, .timeout = timeout};
}

std::vector<Address> SocketsOf(const std::vector<WatchedProcess>& processes) {
  std::vector<Address> sockets;
  for (const WatchedProcess& process : processes) sockets.push_back(process.socket);
  return sockets;
}

/// Returns indices in `answered`: one process for each incomplete communicator.
std::vector<std::size_t> SelectForPeerQuery(const Statuses& answered) {
  std::map<std::string, std::set<std::uint32_t>> known;
  for (const auto& process : answered)
    for (const auto& one : process.communicators) known[one.communicator].insert(one.self.rank);
  std::set<std::string> asked;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < answered.size(); ++i)
    for (const auto& one : answered[i].communicators) {
      if (known[one.communicator].size() >= one.ranks || one.self.forming) continue;
      if (!asked.insert(one.communicator).second) continue;
      if (places.empty() || places.back() != i) places.push_back(i);
    }
  return places;
}

}  // namespace

Result<std::vector<WatchedProcess>> FindProcesses(std::optional<std::uint32_t> pid) {
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open("/"));
  RINGLET_TRY_ASSIGN(const auto names, os::AbstractNames(files));
  std::vector<WatchedProcess> processes;
  for (const std::string& name : names) {
    const auto its = watch::Server::PidIn(name);
    if (!its || (pid && *its != *pid) || processes.size() >= kProcessesMax) continue;
    // Skips the socket of an ended process. A child of fork keeps it open, but no thread answers.
    if (files.Exists(fmt::format("/proc/{}", *its)))
      processes.push_back({.pid = *its, .socket = Address::Unix(name)});
  }
  return processes;
}

StatusAnswers QueryStatus(const std::vector<WatchedProcess>& processes) {
  StatusAnswers answers;
  std::vector<WatchedProcess> answered;
  const auto first =
      os::QueryProcesses(SocketsOf(processes), StatusQuestion("status", kStatusTimeout));
  const auto files = os::FileTree::Open("/");
  for (std::size_t i = 0; i < first.size(); ++i) {
    auto status = first[i].ok() ? watch::ParseProcessStatus(*first[i])
                                : Result<watch::ProcessStatus>(first[i].error());
    if (status.ok()) {
      answers.processes.push_back(std::move(status).value());
      answered.push_back(processes[i]);
    } else if (status.error().code != Code::kPeerLost &&
               status.error().code != Code::kInvalidArgument) {
      const std::string state = files.ok() ? os::ProcessState(*files, processes[i].pid) : "";
      answers.silent.push_back(fmt::format("process {}{} does not answer: {}", processes[i].pid,
                                           state.empty() ? "" : ", which is " + state + ",",
                                           status.error().message));
    }
  }
  std::vector<WatchedProcess> ask;
  const std::vector<std::size_t> places = SelectForPeerQuery(answers.processes);
  for (const std::size_t place : places) ask.push_back(answered[place]);
  const auto second =
      os::QueryProcesses(SocketsOf(ask), StatusQuestion("status peers", kPeersTimeout));
  for (std::size_t i = 0; i < second.size(); ++i) {
    if (!second[i].ok()) continue;
    auto status = watch::ParseProcessStatus(*second[i]);
    if (status.ok()) answers.processes[places[i]] = std::move(status).value();
  }
  if (files.ok()) comm::AddProcessStates(*files, os::ReadHost(*files).name, answers.processes);
  return answers;
}

}  // namespace ringlet::cli
