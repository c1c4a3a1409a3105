#include "os/driver/socket_driver.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <span>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "os/error.hpp"
#include "os/net/caller_filter.hpp"
#include "os/net/sockaddr.hpp"
#include "os/process/forks.hpp"

namespace ringlet::os {
namespace {

using Token =
    std::uint64_t;  // the data that epoll gives back: name one descriptor for its whole life

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr int kReadsPerTurn = 16;  // then the other lines get theirs
constexpr int kAcceptsPerTurn = 256;
constexpr std::size_t kGatherMax = 64;  // buffers in one sendmsg
constexpr std::size_t kDescriptorsMax = 16;
constexpr Token kWakeToken = 0;
constexpr Instant kLastWords = std::chrono::seconds(5);  // a peer that reads nothing loses them
constexpr std::uint32_t kStrangersMax = 32;
constexpr std::size_t kWaitingMax = 4096;         // callers from an entrance, of one machine
constexpr std::size_t kReserveBytes = 64 * 1024;  // to say with that there is no memory
constexpr Instant kFailAgain = std::chrono::milliseconds(10);
constexpr std::size_t kPartingMax = 1024;  // lines; with more, strangers could use up descriptors

/// A descriptor and a file to give up when there are no more, so that a caller can be turned away.
Fd OpenSpare() {
  return Fd(::eventfd(0, EFD_CLOEXEC));  // opens sooner than /dev/null
}

/// Options of a control connection: small messages leave at once, a dead host is noticed. Those of
/// a listener are inherited by what it accepts, which saves these calls for each caller. The user
/// time-out also ends a line whose probes stay unanswered, so their number need not be set.
/// Gives the number of calls that it made.
std::uint64_t Tune(int fd) {
  const int yes = 1, no = 0, idle_s = 10, interval_s = 5, user_timeout_ms = 30'000;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout_ms, sizeof user_timeout_ms);
  // In a handshake every message is answered at once: the answer acknowledges it.
  ::setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &no, sizeof no);
  return 6;
}

/// The process at the other end of a UNIX socket.
std::optional<ucred> PeerOf(int fd) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return std::nullopt;
  return peer;
}

/// Whether a caller over a UNIX socket is of the user of this process, or root.
bool IsOwnUser(int fd) {
  const auto caller = PeerOf(fd);
  return caller && (caller->uid == ::geteuid() || caller->uid == 0);
}

/// 0: it is not in this PID namespace.
std::uint32_t PidOf(int fd) {
  const auto peer = PeerOf(fd);
  return peer ? static_cast<std::uint32_t>(peer->pid) : 0;
}

bool BeginsWith(View bytes, std::string_view beginning) {
  return bytes.size() >= beginning.size() &&
         std::memcmp(bytes.data(), beginning.data(), beginning.size()) == 0;
}

struct Unsent {
  Slice data;
  Descriptors descriptors;
};

struct Connection {
  Fd fd;
  SocketDriver::Id owner = 0;
  LineId id = 0;
  bool is_unix = false;
  bool connecting = false;
  bool dying = false;      // hang up when `unsent` is empty
  bool detaching = false;  // hand over when `unsent` is empty
  bool parting = false;    // dying, closed for writing; hang up when the peer has closed too
  std::deque<Unsent> unsent;
  std::size_t unsent_bytes = 0;
  std::size_t sent_of_first = 0;
  std::uint32_t watched = 0;
  bool in_epoll = false;
  std::optional<Instant> lingers_until;
};

struct Door {  // a listener
  Listener listener;
  SocketDriver::Id owner = 0;
  std::uint32_t strangers = 0;  // callers that began as no rank does
  bool guarded = false;         // by a filter, because of them
};

struct Entry {
  Hosted hosted;
  std::unordered_map<LineId, Token> lines;
  std::vector<Token> doors;
  Entrance::Visit visit = 0;   // of the entrance, if there is one
  std::deque<Caller> waiting;  // from there, until the machine accepts
  LineId next_accepted = kFirstAcceptedLine;
  std::optional<Instant> deadline;
  bool touched = false;
  bool accepting = true;  // its doors are watched
  bool failed = false;    // there was no memory; to be removed at the end of the turn
};

}  // namespace

class SocketDriver::Impl {
 public:
  Impl(Fd epoll, Fd wake, std::function<Status()> start)
      : epoll_(std::move(epoll)), wake_(std::move(wake)), start_(std::move(start)) {
    Watch(wake_.get(), kWakeToken, EPOLLIN, EPOLL_CTL_ADD);
  }
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Id Add(Hosted hosted);
  void CloseListeners(Id id);
  void Remove(Id id, Instant linger);
  void Post(std::function<void()> work);
  void PostAfter(Instant wait, std::function<void()> work);
  void Step(Instant wait);
  void Run();
  bool Borrow(Instant spin);
  Status Return();
  void RunUntil(const std::function<bool()>& done, Instant until);
  void Defer(Id id, Event event) { deferred_.emplace_back(id, std::move(event)); }

  std::atomic<bool> stopped{false};
  std::atomic<std::uint64_t> shortages{0};
  Counters counters;

 private:
  bool IsLentHere() const { return lent_to_ == std::this_thread::get_id(); }
  Status Start();
  void Wake();
  void RunPosted();
  bool RunOwnPosts();
  std::vector<std::function<void()>> TakePosted();
  void RunOne(const std::function<void()>& work);
  void RunDeferred();
  void RunDue();
  void RunChanged();
  void Turn(Instant wait);
  int AwaitEvents(std::span<epoll_event> events, Instant wait);
  void MarkFailed(Id id);
  void MarkAllFailed();
  void RemoveFailed();
  Instant WaitFor(Instant wait);
  void Deliver(Id id, const Event& event);
  void Drain(Id id);
  void Apply(Id id, Action action);
  void DoDial(Id id, const Dial& dial);
  void DoSend(Id id, Send send);
  void DoHangup(Id id, LineId line);
  void DoDetach(Id id, LineId line);
  void OnDoor(Token token, Door& door);
  void OnGuest(Id id, Caller caller);
  void AdmitGuests();
  void Admit(Id id, Caller caller);
  bool GreetedBy(const Hosted& hosted) const;
  void OnStranger(Token token);
  void OnLine(Token token, std::uint32_t events);
  void OnConnecting(Token token, Connection& line);
  void ReadFrom(Token token);
  bool ReadOnce(Token token, Connection& line);
  void Flush(Token token);
  void Part(Token token);
  void Discard(Token token);
  bool SendSome(Connection& line, int& error);
  void Lose(Token token, std::string why);
  void Drop(Token token);
  void HandOver(Token token);
  Token AddLine(Id id, LineId line_id, Fd fd, bool is_unix, bool connecting);
  void WatchLine(Token token, Connection& line);
  void Linger(Token token, Connection& line, Instant timeout);
  void WatchListeners(Entry& entry, bool accepting);
  void Watch(int fd, Token token, std::uint32_t events, int operation);
  Connection* FindLine(Token token);
  Token TokenOf(Id id, LineId line);

  Fd epoll_, wake_;
  Fd spare_ = OpenSpare();
  std::atomic<std::thread::id> runner_{};  // the thread that called Step last
  // Not cleared: most of its pages are never touched.
  const std::unique_ptr<std::byte[]> buffer_ =
      std::make_unique_for_overwrite<std::byte[]>(kReadBytes);
  const bool holds_callers_ = KernelHoldsCallers();
  bool greeted_ = false;  // something read of late began with its machine's greeting
  Id next_id_ = 1;
  Token next_token_ = 1;
  std::unordered_map<Id, Entry> entries_;
  std::unordered_map<Token, Connection> lines_;
  std::unordered_map<Token, Door> doors_;
  std::set<std::pair<Instant, Id>> due_;
  std::set<std::pair<Instant, Token>> lingering_;
  std::multimap<Instant, std::function<void()>> timed_;  // work for later, by its time
  std::size_t parting_ = 0;
  std::deque<std::pair<Id, Event>> deferred_;
  std::vector<Token> dirty_;
  std::vector<Id> touched_;
  bool any_failed_ = false;
  std::unique_ptr<std::byte[]> reserve_ =
      std::make_unique_for_overwrite<std::byte[]>(kReserveBytes);
  std::set<Id> guests_;      // listeners whose machines have callers waiting
  std::mutex posted_mutex_;  // of the next two
  std::vector<std::function<void()>> posted_;
  bool woken_ = false;  // for what is posted; else the thread that runs this looks by itself

  const std::function<Status()> start_;  // empty: the owner runs it
  std::mutex start_mutex_;               // held while it is called
  std::atomic<bool> started_{false};
  std::atomic<std::thread::id> lent_to_{};
  Instant spin_{0};     // the borrower's
  std::mutex running_;  // held by the thread that runs it
};

// ---- machines ---------------------------------------------------------------------------------

SocketDriver::Id SocketDriver::Impl::Add(Hosted hosted) {
  const Id id = next_id_++;
  Entry& entry = entries_[id];
  entry.hosted = std::move(hosted);
  for (Listener& listener : entry.hosted.listeners) {
    const Token token = next_token_++;
    if (listener.address.kind != Address::Kind::kUnix) {
      counters.system_calls += Tune(listener.fd.get());
      if (GreetedBy(entry.hosted)) DeferSilentCallers(listener.fd.get());
    }
    KeepFromChildren(listener.fd.get());
    Watch(listener.fd.get(), token, EPOLLIN, EPOLL_CTL_ADD);
    doors_.emplace(token, Door{std::move(listener), id});
    entry.doors.push_back(token);
  }
  entry.hosted.listeners.clear();
  if (entry.hosted.entrance)
    entry.visit = entry.hosted.entrance->Open([this, id](Caller caller) {
      if (runner_ == std::this_thread::get_id()) return OnGuest(id, std::move(caller));
      const auto shared = std::make_shared<Caller>(std::move(caller));
      Post([this, id, shared] { OnGuest(id, std::move(*shared)); });
    });
  Defer(id, Tick{});
  return id;
}

// Other holders of an entrance must not call what is gone.
SocketDriver::Impl::~Impl() {
  for (auto& [id, entry] : entries_)
    if (entry.hosted.entrance) entry.hosted.entrance->Close(entry.visit);
}

void SocketDriver::Impl::CloseListeners(Id id) {
  const auto it = entries_.find(id);
  if (it == entries_.end()) return;
  for (const Token token : std::exchange(it->second.doors, {})) {
    // Others may hold a copy of the listener, which would keep it in the epoll.
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, doors_.at(token).listener.fd.get(), nullptr);
    ++counters.system_calls;
    doors_.erase(token);
  }
}

void SocketDriver::Impl::Remove(Id id, Instant linger) {
  const auto it = entries_.find(id);
  if (it == entries_.end()) return;
  CloseListeners(id);
  const Entry entry = std::move(it->second);
  entries_.erase(it);
  guests_.erase(id);
  if (entry.hosted.entrance) entry.hosted.entrance->Close(entry.visit);
  if (entry.deadline) due_.erase({*entry.deadline, id});
  for (const auto& [line_id, token] : entry.lines) {
    Connection* line = FindLine(token);
    if (!line) continue;
    line->dying = true;
    if (line->unsent.empty() || line->connecting || linger <= Instant(0)) {
      Drop(token);
    } else {
      Linger(token, *line, linger);
      WatchLine(token, *line);
    }
  }
}

void SocketDriver::Impl::Deliver(Id id, const Event& event) {
  const auto it = entries_.find(id);
  if (it == entries_.end() || it->second.failed) return;
  try {
    it->second.hosted.machine->Handle(event, Now());
    Drain(id);
  } catch (const std::bad_alloc&) {
    MarkFailed(id);
  }
}

// Only marked, which takes no memory: the code that delivers may go on with what belongs to the
// machine.
void SocketDriver::Impl::MarkFailed(Id id) {
  const auto it = entries_.find(id);
  if (it == entries_.end()) return;
  if (!it->second.hosted.failed) return MarkAllFailed();
  it->second.failed = any_failed_ = true;
}

void SocketDriver::Impl::MarkAllFailed() {
  for (auto& [id, entry] : entries_)
    if (entry.hosted.failed) entry.failed = any_failed_ = true;
}

void SocketDriver::Impl::RemoveFailed() {
  reserve_.reset();
  try {
    while (true) {
      const auto it =
          std::ranges::find_if(entries_, [](const auto& entry) { return entry.second.failed; });
      if (it == entries_.end()) break;
      const Id id = it->first;
      const auto tell = it->second.hosted.failed;
      tell(Error{Code::kSystem,
                 "no memory for what came over control connections; see ulimit -v and the memory "
                 "limit of the container"});
      Remove(id, Instant(0));
    }
    any_failed_ = false;
  } catch (const std::bad_alloc&) {
    // Some are still marked: again in the next turn.
  }
  reserve_.reset(new (std::nothrow) std::byte[kReserveBytes]);
}

void SocketDriver::Impl::Drain(Id id) {
  const auto it = entries_.find(id);
  if (it == entries_.end()) return;
  const std::shared_ptr<Machine> machine = it->second.hosted.machine;
  while (auto action = machine->PollAction()) {
    Apply(id, std::move(*action));
    if (!entries_.contains(id)) return;  // a callback has removed it
  }
  Entry& entry = entries_.at(id);
  const auto deadline = machine->Deadline();
  if (deadline != entry.deadline) {
    if (entry.deadline) due_.erase({*entry.deadline, id});
    if (deadline) due_.emplace(*deadline, id);
    entry.deadline = deadline;
  }
  if (entry.accepting != machine->Accepting()) WatchListeners(entry, !entry.accepting);
  if (!entry.touched) touched_.push_back(id);
  entry.touched = true;
}

// A caller that comes while they are not watched waits in the kernel's queue.
void SocketDriver::Impl::WatchListeners(Entry& entry, bool accepting) {
  entry.accepting = accepting;
  for (const Token token : entry.doors)
    Watch(doors_.at(token).listener.fd.get(), token, accepting ? EPOLLIN : 0u, EPOLL_CTL_MOD);
}

void SocketDriver::Impl::Apply(Id id, Action action) {
  std::visit(Overloaded{
                 [&](const Dial& dial) { DoDial(id, dial); },
                 [&](Send& send) { DoSend(id, std::move(send)); },
                 [&](const Hangup& hangup) {
                   counters.strangers_refused += hangup.of_stranger ? 1 : 0;
                   DoHangup(id, hangup.line);
                 },
                 [&](const Detach& detach) { DoDetach(id, detach.line); },
                 [&](const Note& note) {
                   // A copy: the callback may remove the machine, and itself with it.
                   if (const auto sink = entries_.at(id).hosted.note) sink(note);
                 },
             },
             action);
}

void SocketDriver::Impl::DoDial(Id id, const Dial& dial) {
  const SocketAddress to = ToSocketAddress(dial.to);
  Fd fd = OpenForThisProcess([&] {
    return ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  });
  ++counters.system_calls;
  if (!fd.valid() && (errno == EMFILE || errno == ENFILE)) ++shortages;
  const auto fail = [&](std::string why) {
    ++counters.dials_failed;
    Defer(id, Closed{dial.line, std::move(why)});
  };
  if (!fd.valid()) return fail(ErrnoText(errno));
  if (dial.to.kind != Address::Kind::kUnix) counters.system_calls += Tune(fd.get());
  int result = ::connect(fd.get(), to.get(), to.bytes);
  ++counters.system_calls;
  ++counters.lines_dialled;
  if (result != 0 && errno != EINPROGRESS) return fail(ErrnoText(errno));
  if (result != 0) {
    // Within a host it is through by now, though the first call cannot say so. That saves a turn of
    // the loop and two more calls.
    result = ::connect(fd.get(), to.get(), to.bytes);
    ++counters.system_calls;
    if (result != 0 && errno != EALREADY) return fail(ErrnoText(errno));
  }
  const bool is_unix = dial.to.kind == Address::Kind::kUnix;
  if (is_unix && entries_.at(id).hosted.own_user_only && !IsOwnUser(fd.get()))
    return fail("it is another user's");
  const Token token = AddLine(id, dial.line, std::move(fd), is_unix, result != 0);
  WatchLine(token, lines_.at(token));
  if (result == 0) Defer(id, Connected{dial.line, is_unix ? PidOf(lines_.at(token).fd.get()) : 0});
}

void SocketDriver::Impl::DoSend(Id id, Send send) {
  const Token token = TokenOf(id, send.line);
  Connection* line = FindLine(token);
  if (!line || line->dying) return;  // the machine will hear Closed, or has hung up itself
  line->unsent_bytes += send.data.bytes.size();
  line->unsent.push_back(Unsent{send.data.Owned(), std::move(send.descriptors)});
  if (line->unsent_bytes > kUnsentBytesMax)
    return Lose(token, "it reads too slowly: more than 1 GiB waits to be sent to it");
  if (line->unsent.size() == 1) dirty_.push_back(token);
}

void SocketDriver::Impl::DoHangup(Id id, LineId line_id) {
  const Token token = TokenOf(id, line_id);
  Connection* line = FindLine(token);
  if (!line) return;
  entries_.at(id).lines.erase(line_id);
  line->dying = true;
  if (line->connecting) return Drop(token);
  if (line->unsent.empty()) return Part(token);
  Linger(token, *line, kLastWords);
  WatchLine(token, *line);
}

void SocketDriver::Impl::DoDetach(Id id, LineId line_id) {
  const Token token = TokenOf(id, line_id);
  Connection* line = FindLine(token);
  if (!line) return;
  line->detaching = true;
  if (line->unsent.empty()) return HandOver(token);
  WatchLine(token, *line);
}

void SocketDriver::Impl::HandOver(Token token) {
  Connection line = std::move(lines_.at(token));
  lines_.erase(token);
  if (line.in_epoll) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, line.fd.get(), nullptr);
    ++counters.system_calls;
  }
  const auto it = entries_.find(line.owner);
  if (it == entries_.end()) return;
  it->second.lines.erase(line.id);
  if (const auto detached = it->second.hosted.detached) detached(line.id, std::move(line.fd));
}

// ---- lines ------------------------------------------------------------------------------------

Token SocketDriver::Impl::AddLine(Id id, LineId line_id, Fd fd, bool is_unix, bool connecting) {
  const Token token = next_token_++;
  Connection& line = lines_[token];
  line.fd = std::move(fd);
  line.owner = id;
  line.id = line_id;
  line.is_unix = is_unix;
  line.connecting = connecting;
  entries_.at(id).lines[line_id] = token;
  return token;
}

void SocketDriver::Impl::WatchLine(Token token, Connection& line) {
  const bool deaf = (line.dying && !line.parting) || line.detaching;
  std::uint32_t wanted = deaf ? 0u : std::uint32_t{EPOLLIN};
  if (line.connecting || !line.unsent.empty()) wanted |= EPOLLOUT;
  if (line.in_epoll && wanted == line.watched) return;
  Watch(line.fd.get(), token, wanted, line.in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD);
  line.watched = wanted;
  line.in_epoll = true;
}

// Until then its peer may take what is left, and no longer.
void SocketDriver::Impl::Linger(Token token, Connection& line, Instant timeout) {
  if (line.lingers_until) lingering_.erase({*line.lingers_until, token});
  line.lingers_until = Now() + timeout;
  lingering_.emplace(*line.lingers_until, token);
}

void SocketDriver::Impl::Watch(int fd, Token token, std::uint32_t events, int operation) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  ::epoll_ctl(epoll_.get(), operation, fd, &event);
  ++counters.system_calls;
}

Connection* SocketDriver::Impl::FindLine(Token token) {
  const auto it = lines_.find(token);
  return it == lines_.end() ? nullptr : &it->second;
}

Token SocketDriver::Impl::TokenOf(Id id, LineId line) {
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return kWakeToken;
  const auto it = entry->second.lines.find(line);
  return it == entry->second.lines.end() ? kWakeToken : it->second;
}

void SocketDriver::Impl::Drop(Token token) {
  const auto it = lines_.find(token);
  if (it == lines_.end()) return;
  const auto entry = entries_.find(it->second.owner);
  if (entry != entries_.end()) {
    const auto line = entry->second.lines.find(it->second.id);
    if (line != entry->second.lines.end() && line->second == token) entry->second.lines.erase(line);
  }
  if (it->second.parting) --parting_;
  if (it->second.lingers_until) lingering_.erase({*it->second.lingers_until, token});
  lines_.erase(it);
  ++counters.system_calls;
}

void SocketDriver::Impl::Lose(Token token, std::string why) {
  const Connection* line = FindLine(token);
  if (!line) return;
  const Id owner = line->owner;
  const LineId id = line->id;
  const bool silent = line->dying;
  counters.dials_failed += line->connecting ? 1 : 0;
  Drop(token);
  if (!silent) Defer(owner, Closed{id, std::move(why)});
}

void SocketDriver::Impl::OnDoor(Token token, Door& door) {
  const Id owner = door.owner;
  const bool is_unix = door.listener.address.kind == Address::Kind::kUnix;
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    const auto again = doors_.find(token);  // a callback may have closed it
    if (again == doors_.end() || !entries_.at(owner).accepting) return;
    SocketAddress from;
    from.bytes = sizeof from.storage;
    Fd fd = OpenForThisProcess([&] {
      return ::accept4(again->second.listener.fd.get(), from.get(), &from.bytes,
                       SOCK_NONBLOCK | SOCK_CLOEXEC);
    });
    ++counters.system_calls;
    if (!fd.valid() && (errno == EMFILE || errno == ENFILE)) {
      // Out of descriptors: turn the caller away instead of being woken for it for ever. It
      // redials.
      ++shortages;
      spare_.Close();
      Fd(::accept4(again->second.listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC)).Close();
      spare_ = OpenSpare();
      if (const auto sink = entries_.at(owner).hosted.note)
        sink(Note{LogLevel::kWarn,
                  "out of file descriptors: a caller was turned away (raise ulimit -n)"});
      return;
    }
    if (!fd.valid()) return;
    ++counters.lines_accepted;
    if (entries_.at(owner).hosted.own_user_only && !IsOwnUser(fd.get())) continue;
    const LineId id = entries_.at(owner).next_accepted++;
    if (again->second.guarded) AdmitAll(fd.get());
    const Token caller = AddLine(owner, id, std::move(fd), is_unix, false);
    Deliver(owner, Accepted{id, FromSocketAddress(from)});
    // Its words are mostly here already: a caller that is hung up on for them was never watched.
    greeted_ = false;
    ReadFrom(caller);
    if (Connection* line = FindLine(caller)) WatchLine(caller, *line);
    if (!is_unix && !greeted_) OnStranger(token);
  }
}

void SocketDriver::Impl::OnGuest(Id id, Caller caller) {
  const auto it = entries_.find(id);
  if (it == entries_.end() || it->second.waiting.size() >= kWaitingMax) return;
  it->second.waiting.push_back(std::move(caller));
  guests_.insert(id);
}

// Not where they come: their machine may be in the middle of something.
void SocketDriver::Impl::AdmitGuests() {
  const std::set<Id> ids = guests_;
  for (const Id id : ids) {
    while (true) {
      const auto it = entries_.find(id);
      if (it == entries_.end()) break;
      if (it->second.waiting.empty()) guests_.erase(id);
      if (it->second.waiting.empty() || !it->second.accepting) break;
      Caller caller = std::move(it->second.waiting.front());
      it->second.waiting.pop_front();
      Admit(id, std::move(caller));
    }
  }
}

void SocketDriver::Impl::Admit(Id id, Caller caller) {
  const LineId line_id = entries_.at(id).next_accepted++;
  const bool is_unix = caller.from.kind == Address::Kind::kUnix;
  const Token token = AddLine(id, line_id, std::move(caller.socket), is_unix, false);
  Deliver(id, Accepted{line_id, caller.from});
  if (FindLine(token)) Deliver(id, Received{line_id, Slice(View(caller.said))});
  ReadFrom(token);
  if (Connection* line = FindLine(token)) WatchLine(token, *line);
}

bool SocketDriver::Impl::GreetedBy(const Hosted& hosted) const {
  return holds_callers_ && hosted.greeting.size() == kGreetingBytes;
}

// The first ones are left to the machine, which says in the log who they are. Of very many the
// kernel keeps the others away, for calling is cheaper than accepting.
void SocketDriver::Impl::OnStranger(Token token) {
  const auto door = doors_.find(token);
  if (door == doors_.end() || door->second.guarded) return;
  const Hosted& hosted = entries_.at(door->second.owner).hosted;
  if (!GreetedBy(hosted) || ++door->second.strangers < kStrangersMax) return;
  door->second.guarded = AdmitOnly(door->second.listener.fd.get(), hosted.greeting);
  door->second.strangers = 0;
  counters.system_calls += 1;
  if (door->second.guarded && hosted.note)
    hosted.note(Note{
        LogLevel::kWarn,
        fmt::format(
            "{} connections at {} did not begin with Ringlet's protocol: the kernel drops what "
            "such connections send from now on",
            kStrangersMax, ToString(door->second.listener.address))});
}

void SocketDriver::Impl::OnLine(Token token, std::uint32_t events) {
  Connection* line = FindLine(token);
  if (!line) return;
  if (line->connecting) return OnConnecting(token, *line);
  if (events & EPOLLOUT) Flush(token);
  line = FindLine(token);
  if (!line) return;
  if (line->parting) return Discard(token);
  if (line->dying || line->detaching) {
    if (events & (EPOLLERR | EPOLLHUP)) Lose(token, "connection closed");
    return;
  }
  if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) ReadFrom(token);
}

void SocketDriver::Impl::OnConnecting(Token token, Connection& line) {
  int error = 0;
  socklen_t bytes = sizeof error;
  ::getsockopt(line.fd.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  ++counters.system_calls;
  if (error != 0) return Lose(token, ErrnoText(error));
  line.connecting = false;
  const Id owner = line.owner;
  const Connected connected{line.id, line.is_unix ? PidOf(line.fd.get()) : 0};
  WatchLine(token, line);
  Deliver(owner, connected);
}

void SocketDriver::Impl::ReadFrom(Token token) {
  for (int i = 0; i < kReadsPerTurn; ++i) {
    Connection* line = FindLine(token);
    if (!line || line->dying || line->detaching) return;
    if (!ReadOnce(token, *line)) return;
  }
}

// True when there may be more to read.
bool SocketDriver::Impl::ReadOnce(Token token, Connection& line) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMax * sizeof(int))> control;
  iovec piece{buffer_.get(), kReadBytes};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (line.is_unix) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  const ssize_t bytes = ::recvmsg(line.fd.get(), &message, MSG_CMSG_CLOEXEC);
  ++counters.system_calls;
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (bytes <= 0) {
    Lose(token, bytes == 0 ? "connection closed by the peer" : ErrnoText(errno));
    return false;
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) ++shortages;
  Received received{line.id, Slice(View(buffer_.get(), static_cast<std::size_t>(bytes))), {}};
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c && line.is_unix; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      received.descriptors.push_back(Keep(Fd(fd)));
    }
  }
  counters.bytes_received += static_cast<std::uint64_t>(bytes);
  greeted_ = greeted_ || BeginsWith(received.data.bytes, entries_.at(line.owner).hosted.greeting);
  const bool full = static_cast<std::size_t>(bytes) == kReadBytes;
  Deliver(line.owner, received);
  return full;
}

void SocketDriver::Impl::Flush(Token token) {
  Connection* line = FindLine(token);
  if (!line || line->connecting) return;
  while (!line->unsent.empty()) {
    int error = 0;
    if (SendSome(*line, error)) continue;
    if (error == EAGAIN || error == EINTR) break;
    ReadFrom(token);  // a peer that has hung up may have said why
    return Lose(token, ErrnoText(error));
  }
  if (line->unsent.empty()) {
    if (line->dying) return Part(token);
    if (line->detaching) return HandOver(token);
  }
  WatchLine(token, *line);
}

// All is with the kernel. If the peer should say something more, closing now would reset the
// connection and destroy what has not reached it yet: close for writing, and wait for it to close.
void SocketDriver::Impl::Part(Token token) {
  Connection& line = lines_.at(token);
  if (line.parting) return;
  int unacknowledged = 0;
  ::ioctl(line.fd.get(), SIOCOUTQ, &unacknowledged);
  ++counters.system_calls;
  if (line.is_unix || unacknowledged == 0 || parting_ >= kPartingMax) return Drop(token);
  ::shutdown(line.fd.get(), SHUT_WR);
  ++counters.system_calls;
  line.parting = true;
  ++parting_;
  Linger(token, line, kLastWords);
  WatchLine(token, line);
}

void SocketDriver::Impl::Discard(Token token) {
  const Connection* line = FindLine(token);
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const ssize_t bytes = ::recv(line->fd.get(), buffer_.get(), kReadBytes, 0);
    ++counters.system_calls;
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (bytes <= 0) return Drop(token);
  }
}

bool SocketDriver::Impl::SendSome(Connection& line, int& error) {
  std::array<iovec, kGatherMax> pieces;
  std::size_t count = 0;
  for (const Unsent& unsent : line.unsent) {
    // Descriptors travel with the first byte of their own message, so such a message starts a call.
    if (count == pieces.size() || (count > 0 && !unsent.descriptors.empty())) break;
    View rest = unsent.data.bytes;
    if (count == 0) rest = rest.subspan(line.sent_of_first);
    pieces[count++] = {const_cast<std::byte*>(rest.data()), rest.size()};
  }
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMax * sizeof(int))> control{};
  const Descriptors& descriptors = line.unsent.front().descriptors;
  if (!descriptors.empty() && line.is_unix) {
    const std::size_t fds = std::min(descriptors.size(), kDescriptorsMax);
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds * sizeof(int));
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds * sizeof(int));
    for (std::size_t i = 0; i < fds; ++i) {
      const int fd = descriptors[i].value;
      std::memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof fd);
    }
  }
  const ssize_t sent = ::sendmsg(line.fd.get(), &message, MSG_NOSIGNAL);
  ++counters.system_calls;
  if (sent < 0) {
    error = errno;
    return false;
  }
  counters.bytes_sent += static_cast<std::uint64_t>(sent);
  line.unsent.front().descriptors.clear();
  line.unsent_bytes -= static_cast<std::size_t>(sent);
  line.sent_of_first += static_cast<std::size_t>(sent);
  while (!line.unsent.empty() && line.sent_of_first >= line.unsent.front().data.bytes.size()) {
    line.sent_of_first -= line.unsent.front().data.bytes.size();
    line.unsent.pop_front();
  }
  return true;
}

// ---- the loop ---------------------------------------------------------------------------------

void SocketDriver::Impl::Post(std::function<void()> work) {
  bool wakes = false;
  {
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(work));
    // This thread sees to it. Asked after it is there: a thread that starts now finds it.
    if (IsLentHere() && !started_) return;
    wakes = !std::exchange(woken_, true);  // else a wake-up for earlier work is still on its way
  }
  if (wakes) Wake();
  // If there is no thread for it the work stays, and the next that is posted tries again.
  if (start_ && !started_) (void)Start();
}

void SocketDriver::Impl::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

std::vector<std::function<void()>> SocketDriver::Impl::TakePosted() {
  const std::lock_guard lock(posted_mutex_);
  woken_ = false;
  return std::exchange(posted_, {});
}

void SocketDriver::Impl::RunPosted() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof count);
  ++counters.system_calls;
  for (const auto& one : TakePosted()) RunOne(one);
}

// Work of the thread to which this is lent, for which nothing wakes.
bool SocketDriver::Impl::RunOwnPosts() {
  {
    const std::lock_guard lock(posted_mutex_);
    if (woken_ || posted_.empty()) return false;
  }
  for (const auto& one : TakePosted()) RunOne(one);
  return true;
}

void SocketDriver::Impl::RunOne(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    MarkAllFailed();  // its owner is unknown
  }
}

void SocketDriver::Impl::PostAfter(Instant wait, std::function<void()> work) {
  Post([this, at = Now() + wait, work = std::move(work)] { timed_.emplace(at, work); });
}

void SocketDriver::Impl::RunDeferred() {
  while (!deferred_.empty()) {
    const auto [id, event] = std::move(deferred_.front());
    deferred_.pop_front();
    Deliver(id, event);
  }
}

void SocketDriver::Impl::RunDue() {
  const Instant now = Now();
  while (!due_.empty() && due_.begin()->first <= now) {
    const Id id = due_.begin()->second;
    due_.erase(due_.begin());
    const auto it = entries_.find(id);
    if (it == entries_.end()) continue;
    it->second.deadline.reset();
    Deliver(id, Tick{});
  }
  while (!lingering_.empty() && lingering_.begin()->first <= now) {
    const Token token = lingering_.begin()->second;
    lingering_.erase(lingering_.begin());
    Drop(token);
  }
  while (!timed_.empty() && timed_.begin()->first <= now)
    RunOne(timed_.extract(timed_.begin()).mapped());
}

void SocketDriver::Impl::RunChanged() {
  std::vector<Id> touched;
  touched.swap(touched_);
  for (const Id id : touched) {
    const auto it = entries_.find(id);
    if (it == entries_.end()) continue;
    it->second.touched = false;
    try {
      if (const auto changed = it->second.hosted.changed) changed();
    } catch (const std::bad_alloc&) {
      MarkFailed(id);
    }
  }
}

Instant SocketDriver::Impl::WaitFor(Instant wait) {
  if (!deferred_.empty() || !dirty_.empty() || !touched_.empty()) return Instant(0);
  if (any_failed_) wait = std::min(wait, kFailAgain);
  const Instant now = Now();
  if (!due_.empty()) wait = std::min(wait, due_.begin()->first - now);
  if (!lingering_.empty()) wait = std::min(wait, lingering_.begin()->first - now);
  if (!timed_.empty()) wait = std::min(wait, timed_.begin()->first - now);
  return std::max(wait, Instant(0));
}

void SocketDriver::Impl::Step(Instant wait) {
  try {
    Turn(wait);
  } catch (const std::bad_alloc&) {
    MarkAllFailed();
  }
  if (any_failed_) RemoveFailed();
}

int SocketDriver::Impl::AwaitEvents(std::span<epoll_event> events, Instant wait) {
  const auto look = [&](std::int64_t wait_ms) {
    ++counters.system_calls;
    return ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                        static_cast<int>(std::min<std::int64_t>(wait_ms, 1'000'000)));
  };
  if (IsLentHere() && spin_ > Instant(0)) {
    const Instant spin = std::min(spin_, wait);
    for (const Instant until = Now() + spin; Now() < until; ::sched_yield())
      if (const int ready = look(0); ready != 0) return ready;
    wait -= spin;
  }
  return look(std::chrono::ceil<std::chrono::milliseconds>(wait).count());
}

void SocketDriver::Impl::Turn(Instant wait) {
  runner_ = std::this_thread::get_id();
  if (RunOwnPosts()) wait = Instant(0);  // it may be what this thread waits for
  std::array<epoll_event, 256> events;
  const int ready = AwaitEvents(events, WaitFor(wait));
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const Token token = event.data.u64;
    if (token == kWakeToken) {
      RunPosted();
    } else if (const auto door = doors_.find(token); door != doors_.end()) {
      OnDoor(token, door->second);
    } else {
      OnLine(token, event.events);
    }
  }
  RunDue();
  AdmitGuests();
  // Output of machines is flushed once a turn, gathered; that may in turn lose lines.
  while (!deferred_.empty() || !dirty_.empty()) {
    RunDeferred();
    std::vector<Token> dirty;
    dirty.swap(dirty_);
    for (const Token token : dirty) Flush(token);
    AdmitGuests();
  }
  RunChanged();
}

// ---- whose thread -----------------------------------------------------------------------------

void SocketDriver::Impl::Run() {
  const std::lock_guard running(running_);
  while (!stopped) Step(std::chrono::seconds(60));
}

Status SocketDriver::Impl::Start() {
  const std::lock_guard lock(start_mutex_);
  if (started_) return Ok();
  started_ = true;  // its thread may post before this has returned
  if (lent_to_ != std::thread::id()) Wake();
  Status status = start_();
  if (!status.ok()) started_ = false;
  return status;
}

bool SocketDriver::Impl::Borrow(Instant spin) {
  if (!start_ || started_) return false;
  std::thread::id nobody;
  if (!lent_to_.compare_exchange_strong(nobody, std::this_thread::get_id())) return false;
  spin_ = spin;
  return true;
}

Status SocketDriver::Impl::Return() {
  lent_to_ = std::thread::id();
  return Start();
}

// Work that another thread posts starts the driver's own thread, and wakes this one, which makes
// room for it. So nothing is left undone where the borrower waits for something else.
void SocketDriver::Impl::RunUntil(const std::function<bool()>& done, Instant until) {
  if (!IsLentHere() || started_) return;
  const std::lock_guard running(running_);
  while (!started_ && !done()) {
    const Instant left = until - Now();
    Step(std::max(left, Instant(0)));
    if (left <= Instant(0)) return;
  }
}

// ---- the outside ------------------------------------------------------------------------------

SocketDriver::SocketDriver(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SocketDriver::~SocketDriver() = default;

Result<std::unique_ptr<SocketDriver>> SocketDriver::Create(std::function<Status()> start) {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return SystemError("cannot create an epoll", errno);
  Fd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake.valid()) return SystemError("cannot create an eventfd", errno);
  auto impl = std::make_unique<Impl>(std::move(epoll), std::move(wake), std::move(start));
  return std::unique_ptr<SocketDriver>(new SocketDriver(std::move(impl)));
}

SocketDriver::Id SocketDriver::Add(Hosted hosted) {
  return impl_->Add(std::move(hosted));
}
void SocketDriver::Nudge(Id id) {
  impl_->Defer(id, Tick{});
}
void SocketDriver::CloseListeners(Id id) {
  impl_->CloseListeners(id);
}
void SocketDriver::Remove(Id id, Instant linger) {
  impl_->Remove(id, linger);
}
void SocketDriver::Post(std::function<void()> work) {
  impl_->Post(std::move(work));
}
void SocketDriver::PostAfter(Instant wait, std::function<void()> work) {
  impl_->PostAfter(wait, std::move(work));
}
void SocketDriver::Step(Instant wait) {
  impl_->Step(wait);
}
void SocketDriver::Stop() {
  impl_->stopped = true;
}
void SocketDriver::Run() {
  impl_->Run();
}
void SocketDriver::RunUntil(const std::function<bool()>& done, Instant until) {
  impl_->RunUntil(done, until);
}

SocketDriver::Loan::Loan(SocketDriver& driver, Instant spin)
    : driver_(driver.impl_->Borrow(spin) ? &driver : nullptr) {}
SocketDriver::Loan::Loan(Loan&& other) noexcept : driver_(std::exchange(other.driver_, nullptr)) {}
SocketDriver::Loan::~Loan() {
  (void)End();
}
Status SocketDriver::Loan::End() {
  SocketDriver* const driver = std::exchange(driver_, nullptr);
  return driver == nullptr ? Ok() : driver->impl_->Return();
}

SocketDriver::Counters& SocketDriver::Counters::operator+=(const Counters& other) {
  bytes_sent += other.bytes_sent;
  bytes_received += other.bytes_received;
  lines_dialled += other.lines_dialled;
  lines_accepted += other.lines_accepted;
  dials_failed += other.dials_failed;
  strangers_refused += other.strangers_refused;
  system_calls += other.system_calls;
  return *this;
}
const SocketDriver::Counters& SocketDriver::counters() const {
  return impl_->counters;
}

std::uint64_t SocketDriver::shortages() const {
  return impl_->shortages;
}

Instant SocketDriver::Now() {
  return std::chrono::duration_cast<Instant>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace ringlet::os
