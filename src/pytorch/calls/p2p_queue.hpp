// Messages between two ranks, with tags, received in any order and from any rank.
//
// The order of collectives and messages of a group may differ between ranks. So messages use
// separate communicators: one of two ranks for each sender and receiver, formed for the first
// message. The sender announces it in the store at the receiver's counter, so a receiver watches
// one key, however many ranks may send to it.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "pytorch/group/group.hpp"

namespace ringlet::torch_api {

/// A receive that waits for a message.
struct Posted {
  std::optional<std::uint32_t> from;  ///< empty: from any rank
  std::int32_t tag = 0;
  std::span<std::byte> room;  ///< lives until `done`; a message must fill it
  /// Called once, with the sender, by Receive or on a thread of the queue. Must not block.
  std::function<void(Status, std::uint32_t from)> done;
};

/// A communicator of two: the sender has pair rank 0, the receiver pair rank 1.
class PairLink {
 public:
  virtual ~PairLink() = default;
  /// Blocks until the bytes may be overwritten.
  virtual Status Write(View bytes) = 0;
  /// Blocks until the room is full.
  virtual Status Read(std::span<std::byte> room) = 0;
  /// Ends a running Write or Read at both ends. Any thread.
  virtual void Abort(const std::string& why) = 0;
};

/// Forms a line with the other end. Blocks.
using MakeLine = std::function<Result<std::shared_ptr<PairLink>>(
    const UniqueId& id, std::uint32_t pair_rank, std::chrono::milliseconds operation_timeout,
    const std::stop_token& abort)>;

/// The messages of one group on one rank. It has one thread per peer for sending, one per peer for
/// receiving, and one that detects new senders and lost ranks.
class P2pQueue {
 public:
  P2pQueue(RankGroup& group, MakeLine make_line);
  /// Cancels running operations.
  ~P2pQueue();
  P2pQueue(const P2pQueue&) = delete;
  P2pQueue& operator=(const P2pQueue&) = delete;

  /// Sends in the background; messages to one receiver keep the call order. Calls `done` once when
  /// the bytes may change; it must not block. A message to this rank itself is copied, unless a
  /// receive waits for it already.
  void Send(std::uint32_t to, std::int32_t tag, View bytes, std::function<void(Status)> done);

  /// Receives in the background. Messages of one sender and tag match in order. Returns a number
  /// for Withdraw.
  std::uint64_t Receive(Posted posted);
  /// Cancels an unmatched receive; its `done` is not called. Returns false if it is too late.
  bool Withdraw(std::uint64_t number);

  /// Fails all running and later operations.
  void Abort(const std::string& why) { Fail(Error{Code::kAborted, why}); }
  /// As Abort, and waits for the threads.
  void Close();

 private:
  struct SendRequest {
    std::int32_t tag = 0;
    View bytes;
    std::function<void(Status)> done;
  };
  struct Outbox {
    std::deque<SendRequest> requests;
    bool sending = false;  // a request that was removed from `requests`
    std::shared_ptr<PairLink> line;
    std::stop_source stop;  // cancels forming the line
    std::jthread thread;
  };
  struct Unexpected {
    std::int32_t tag = 0;
    Bytes bytes;
  };
  struct Inbox {
    std::deque<Unexpected> unexpected;  // arrived before a matching receive
    std::size_t unexpected_bytes = 0;
    std::shared_ptr<PairLink> line;
    bool reading = false;         // a message, or waiting for one
    std::optional<Error> broken;  // no further message arrives
    std::stop_source stop;        // cancels forming the line
    std::jthread thread;
  };
  using PostedList = std::list<std::pair<std::uint64_t, Posted>>;
  using Lock = std::unique_lock<std::mutex>;

  void SendToSelf(std::int32_t tag, View bytes, const std::function<void(Status)>& done);
  void RunOutbox(std::uint32_t to);
  Status SendOne(std::uint32_t to, const SendRequest& request);
  Result<std::shared_ptr<PairLink>> Connect(std::uint32_t to);

  void Fail(const Error& error);
  Status StartOutbox(std::uint32_t to, Outbox& outbox);
  Status StartReception();
  void RunReception();
  /// Runs one round: accepts a new sender, or pauses.
  void RunReceptionRound(Lock& lock);
  bool IsReceptionNeeded() const;
  bool IsPending() const;
  /// Ends operations that wait for lost ranks, or all operations of a failed group.
  void CheckPeers(Lock& lock);
  std::vector<std::uint32_t> RanksInDoubt() const;
  void GiveUp(Lock& lock, std::uint32_t rank);
  void StoreFailed(Lock& lock, const Error& error);
  Result<bool> AcceptSender(std::uint64_t number);

  void RunInbox(std::uint32_t from, const UniqueId& id);
  bool IsAwaited(std::uint32_t from) const;
  PostedList::iterator Match(std::uint32_t from, std::int32_t tag);
  void DeliverUnexpected(Lock& lock, std::uint32_t from);
  /// The message for `posted` that has arrived already, and its sender.
  std::optional<std::pair<std::uint32_t, Bytes>> TakeUnexpected(const Posted& posted);
  static void HandOver(const Posted& posted, View bytes, std::uint32_t from);
  Status TakeMessage(Lock& lock, std::uint32_t from);
  /// True if a rank may still send the message, or if it has arrived.
  bool MayStillArrive(const Posted& posted) const;
  void Break(Lock& lock, std::uint32_t from, const Error& error);
  void End(Lock& lock, PostedList lost, const Error& error, std::uint32_t from);
  Posted Take(PostedList::iterator it);

  RankGroup& group_;
  const MakeLine make_line_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::stop_source stop_;
  std::optional<Error> failure_;
  std::uint64_t next_number_ = 0;
  PostedList posted_;
  std::map<std::uint32_t, Outbox> outboxes_;
  std::map<std::uint32_t, Inbox> inboxes_;
  std::map<std::uint32_t, std::string> gone_;  // ranks that send nothing more, and the reason
  std::uint64_t guests_ = 0;                   // number of announced senders
  // The pauses between two looks into the store for new senders grow slowly, because they add up in
  // a chain of ranks: the first messages through 8 ranks took 20 ms in place of 50.
  static constexpr Backoff::Pace kMailLooks{.growth = 15};
  Backoff backoff_{kMailLooks};
  std::chrono::microseconds unlooked_{0};  // time since the last check of peers
  std::jthread caretaker_;
};

}  // namespace ringlet::torch_api
