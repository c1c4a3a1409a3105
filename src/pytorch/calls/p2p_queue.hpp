// Messages between two ranks, with tags, received in any order and from any rank.
//
// Collectives and messages of a group need not come in one order on both sides, so messages have
// communicators of their own: one of two ranks for each sender and receiver, made when the first
// message is sent. The sender announces it in the store at the receiver's counter, so that a
// receiver watches one key, however many ranks may send to it.
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
  std::optional<std::uint32_t> from;  ///< else from any rank
  std::int32_t tag = 0;
  std::span<std::byte> room;  ///< lives until `done`; a message must fill it
  /// Called once, with the sender, by Receive or on a thread of the mail's. Must not block.
  std::function<void(Status, std::uint32_t from)> done;
};

/// A communicator of two: the sender's seat is 0, the receiver's 1.
class Line {
 public:
  virtual ~Line() = default;
  /// Blocks until the bytes may be overwritten.
  virtual Status Write(View bytes) = 0;
  /// Blocks until the room is full.
  virtual Status Read(std::span<std::byte> room) = 0;
  /// Ends a Write or Read that is under way, at both ends. Any thread.
  virtual void Abort(const std::string& why) = 0;
};

/// Forms a line together with the other end. Blocks.
using MakeLine = std::function<Result<std::shared_ptr<Line>>(
    const UniqueId& id, std::uint32_t seat, std::chrono::milliseconds operation_timeout,
    const std::stop_token& abort)>;

/// The messages of one group on one rank. One thread for each peer that it sends to or receives
/// from, and one that looks for new senders and for ranks that are gone.
class P2pQueue {
 public:
  P2pQueue(Group& group, MakeLine make_line);
  /// Cuts off what is under way.
  ~P2pQueue();
  P2pQueue(const P2pQueue&) = delete;
  P2pQueue& operator=(const P2pQueue&) = delete;

  /// Sends in the background; to one receiver in the order of the calls. `done` is called once,
  /// when the bytes are no longer needed, and must not block. A message to this rank itself is
  /// copied here, unless a receive waits for it already.
  void Send(std::uint32_t to, std::int32_t tag, View bytes, std::function<void(Status)> done);

  /// Receives in the background. Messages of one sender and tag are matched in their order.
  /// The number is for Withdraw.
  std::uint64_t Receive(Posted posted);
  /// Takes back a receive that no message has begun to fill: its `done` will not be called. False:
  /// too late.
  bool Withdraw(std::uint64_t number);

  /// Fails everything that is under way or comes later.
  void Abort(const std::string& why) { Fail(Error{Code::kAborted, why}); }
  /// The same, and waits for the threads.
  void Close();

 private:
  struct SendRequest {
    std::int32_t tag = 0;
    View bytes;
    std::function<void(Status)> done;
  };
  struct Outbox {
    std::deque<SendRequest> requests;
    bool sending = false;  // one that is no longer among them
    std::shared_ptr<Line> line;
    std::stop_source stop;  // of making the line
    std::jthread thread;
  };
  struct Unexpected {
    std::int32_t tag = 0;
    Bytes bytes;
  };
  struct Inbox {
    std::deque<Unexpected> unexpected;  // came before a receive asked for them
    std::size_t unexpected_bytes = 0;
    std::shared_ptr<Line> line;
    bool reading = false;         // a message, or the wait for one
    std::optional<Error> broken;  // and what is not early will not come
    std::stop_source stop;        // of making the line
    std::jthread thread;
  };
  using PostedList = std::list<std::pair<std::uint64_t, Posted>>;
  using Lock = std::unique_lock<std::mutex>;

  void SendToSelf(std::int32_t tag, View bytes, const std::function<void(Status)>& done);
  void RunOutbox(std::uint32_t to);
  Status SendOne(std::uint32_t to, const SendRequest& request);
  Result<std::shared_ptr<Line>> Connect(std::uint32_t to);

  void Fail(const Error& error);
  Status StartOutbox(std::uint32_t to, Outbox& outbox);
  Status StartCaretaker();
  void RunCaretaker();
  /// One round: a new sender, if there is one, else a pause.
  void TakeCare(Lock& lock);
  bool IsReceptionNeeded() const;
  bool IsPending() const;
  /// Ends what waits for ranks that are gone, or for anything of a group that has failed.
  void CheckPeers(Lock& lock);
  std::vector<std::uint32_t> RanksInDoubt() const;
  void GiveUp(Lock& lock, std::uint32_t rank);
  void StoreFailed(Lock& lock, const Error& error);
  Result<bool> ReceiveGuest(std::uint64_t number);

  void RunInbox(std::uint32_t from, const UniqueId& id);
  bool IsAwaited(std::uint32_t from) const;
  PostedList::iterator Match(std::uint32_t from, std::int32_t tag);
  void DeliverUnexpected(Lock& lock, std::uint32_t from);
  /// The messages that have come already for `posted`, and their sender.
  std::optional<std::pair<std::uint32_t, Bytes>> TakeUnexpected(const Posted& posted);
  static void HandOver(const Posted& posted, View bytes, std::uint32_t from);
  Status TakeMessage(Lock& lock, std::uint32_t from);
  /// Whether a rank may send it yet, or has sent it and it lies here.
  bool MayStillCome(const Posted& posted) const;
  void Break(Lock& lock, std::uint32_t from, const Error& error);
  void End(Lock& lock, PostedList lost, const Error& error, std::uint32_t from);
  Posted Take(PostedList::iterator it);

  Group& group_;
  const MakeLine make_line_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::stop_source stop_;
  std::optional<Error> failure_;
  std::uint64_t next_number_ = 0;
  PostedList posted_;
  std::map<std::uint32_t, Outbox> outboxes_;
  std::map<std::uint32_t, Inbox> inboxes_;
  std::map<std::uint32_t, std::string> gone_;  // and why nothing comes from them any more
  std::uint64_t guests_ = 0;                   // senders that have announced themselves
  Backoff backoff_;
  std::chrono::microseconds unlooked_{0};  // that have passed since the last look around
  std::jthread caretaker_;
};

}  // namespace ringlet::torch_api
