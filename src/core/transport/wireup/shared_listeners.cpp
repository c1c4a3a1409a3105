#include "transport/wireup/shared_listeners.hpp"

#include <algorithm>
#include <list>
#include <mutex>

namespace ringlet::transport {
namespace {

// Returns the addresses to bind to. Ranks that share an endpoint must have equal ones.
std::vector<Address> Bound(std::vector<Address> interfaces) {
  for (Address& address : interfaces) address.port = 0;
  std::ranges::sort(interfaces);
  return interfaces;
}

// Returns the endpoint as the caller that passed `options` sees it: with its interfaces in the
// given order, grouped by family as in ListenerSet::Open.
ListenerSet OrderedFor(const ListenerSetOptions& options, const ListenerSet& endpoint) {
  ListenerSet seen{.listeners = {},
                   .tcp = {},
                   .preferred = 0,
                   .unix_socket = {},
                   .net_namespace = endpoint.net_namespace,
                   .entrance = {}};
  if (options.unix_listener) seen.unix_socket = endpoint.unix_socket;
  for (const Address::Kind kind : {Address::Kind::kIpv4, Address::Kind::kIpv6}) {
    const auto open = std::ranges::find(endpoint.tcp, kind, &Address::kind);
    if (open == endpoint.tcp.end()) continue;
    const bool first = seen.tcp.empty();
    for (std::size_t i = 0; i < options.interfaces.size(); ++i) {
      if (options.interfaces[i].kind != kind) continue;
      seen.tcp.push_back(options.interfaces[i]);
      seen.tcp.back().port = open->port;
      if (first && i < options.preferred) ++seen.preferred;
    }
  }
  return seen;
}

}  // namespace

// `mutex` protects all members. Entrances and the machines of endpoints share this object, so it
// outlives them.
struct SharedListeners::Shared {
  struct ServedKey {  // one key at one endpoint
    std::function<void(os::Caller)> admit = {};
    os::Entrance::Visit visit = 0;
    std::map<std::uint64_t, os::Caller> waiting = {};  // by number
  };
  struct ServedEndpoint {  // one endpoint and the keys that it serves
    std::vector<Address> bound;
    ListenerSet endpoint;  // without listeners, which the driver owns
    std::map<ServiceKey, ServedKey> places = {};
    os::SocketDriver::Id id = 0;  // only the driver's thread uses it
  };
  class KeyEntrance;  // the entrance of a place

  mutable std::mutex mutex;
  os::SocketDriver* driver = nullptr;  // null once the driver and its endpoints are destroyed
  Options options;
  std::list<std::shared_ptr<ServedEndpoint>> served_endpoints;
  os::Entrance::Visit visits = 0;
  std::uint64_t callers = 0;  // callers that have had to wait

  bool Serves(const ServedEndpoint& served, const ServiceKey& key) const {
    const std::lock_guard lock(mutex);
    return served.places.contains(key);
  }

  static void Welcome(const std::shared_ptr<Shared>& shared,
                      const std::shared_ptr<ServedEndpoint>& served,
                      Reception::IdentifiedCaller guest, os::Fd socket) {
    const std::lock_guard lock(shared->mutex);
    const auto place = served->places.find(guest.key);
    if (place == served->places.end()) return;
    os::Caller caller{std::move(socket), std::move(guest.from), std::move(guest.said)};
    if (place->second.admit) return place->second.admit(std::move(caller));
    if (!shared->driver || place->second.waiting.size() >= shared->options.half_open_max) return;
    const std::uint64_t number = ++shared->callers;
    place->second.waiting.emplace(number, std::move(caller));
    // Drops a late caller. A peer calls again. A stranger that replays a message would stay
    // forever.
    shared->driver->PostAfter(shared->options.timeout, [shared, served, key = guest.key, number] {
      const std::lock_guard looking(shared->mutex);
      const auto late = served->places.find(key);
      if (late != served->places.end()) late->second.waiting.erase(number);
    });
  }

  void Leave(const std::shared_ptr<ServedEndpoint>& served, const ServiceKey& key) {
    const std::lock_guard lock(mutex);
    served->places.erase(key);
    // The first endpoint stays open, because the next communicator probably needs the same one.
    if (served->places.empty() && served != served_endpoints.front()) Close(served);
  }

  void Close(const std::shared_ptr<ServedEndpoint>& served) {
    served_endpoints.remove(served);
    if (driver) driver->Post([driver = driver, served] { driver->Remove(served->id); });
  }

  // Closes unused endpoints of addresses that the host had earlier.
  void CloseIdle() {
    const auto all = served_endpoints;
    for (const auto& served : all)
      if (served->places.empty()) Close(served);
  }

  static void Host(const std::shared_ptr<Shared>& shared,
                   const std::shared_ptr<ServedEndpoint>& served,
                   std::vector<os::Listener> listeners, const Secret& nonce_seed);
};

class SharedListeners::Shared::KeyEntrance final : public os::Entrance {
 public:
  KeyEntrance(std::shared_ptr<Shared> shared, std::shared_ptr<ServedEndpoint> served,
              const ServiceKey& key)
      : shared_(std::move(shared)), shelf_(std::move(served)), key_(key) {}
  ~KeyEntrance() override { shared_->Leave(shelf_, key_); }

  Visit Open(std::function<void(os::Caller)> admit) override {
    const std::lock_guard lock(shared_->mutex);
    ServedKey& place = shelf_->places.at(key_);
    for (auto& [number, caller] : place.waiting) admit(std::move(caller));
    place.waiting.clear();
    place.admit = std::move(admit);
    return place.visit = ++shared_->visits;
  }
  void Close(Visit visit) override {
    const std::lock_guard lock(shared_->mutex);
    ServedKey& place = shelf_->places.at(key_);
    if (place.visit == visit) place.admit = nullptr;
  }

 private:
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<ServedEndpoint> shelf_;
  const ServiceKey key_;
};

void SharedListeners::Shared::Host(const std::shared_ptr<Shared>& shared,
                                   const std::shared_ptr<ServedEndpoint>& served,
                                   std::vector<os::Listener> listeners, const Secret& nonce_seed) {
  const auto reception = std::make_shared<Reception>(ReceptionConfig{
      .nonce_seed = nonce_seed,
      .serves = [shared, served](const ServiceKey& key) { return shared->Serves(*served, key); },
      .callers = {.owner = {},
                  .half_open_max = shared->options.half_open_max,
                  .timeout = shared->options.timeout}});
  const auto hosted = std::make_shared<os::Hosted>();
  hosted->machine = reception;
  hosted->listeners = std::move(listeners);
  hosted->greeting = kGreeting;
  hosted->note = shared->options.note;
  hosted->detached = [shared, served, reception](LineId line, os::Fd socket) {
    Welcome(shared, served, reception->Take(line), std::move(socket));
  };
  shared->driver->Post(
      [driver = shared->driver, served, hosted] { served->id = driver->Add(std::move(*hosted)); });
}

SharedListeners::SharedListeners(os::SocketDriver& driver, Options options)
    : shared_(std::make_shared<Shared>()) {
  shared_->driver = &driver;
  shared_->options = std::move(options);
}

SharedListeners::~SharedListeners() {
  const std::lock_guard lock(shared_->mutex);
  shared_->driver = nullptr;
}

std::optional<Address> SharedListeners::UnixSocketOf(const ServiceKey& key) const {
  const std::lock_guard lock(shared_->mutex);
  for (const auto& served : shared_->served_endpoints) {
    const Address& at = served->endpoint.unix_socket;
    if (served->places.contains(key) && at.kind == Address::Kind::kUnix) return at;
  }
  return std::nullopt;
}

std::size_t SharedListeners::size() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->served_endpoints.size();
}

Result<ListenerSet> SharedListeners::Open(const ListenerSetOptions& options,
                                          const ServiceKey& key) {
  const std::lock_guard lock(shared_->mutex);
  const std::vector<Address> bound = Bound(options.interfaces);
  std::shared_ptr<Shared::ServedEndpoint> served;
  for (const auto& one : shared_->served_endpoints)
    if (!served && one->bound == bound && !one->places.contains(key)) served = one;
  if (!served) {
    shared_->CloseIdle();
    ListenerSetOptions all = options;
    all.unix_listener = true;  // the next rank may need it
    RINGLET_TRY_ASSIGN(ListenerSet endpoint, ListenerSet::Open(all));
    auto listeners = std::exchange(endpoint.listeners, {});
    served = std::make_shared<Shared::ServedEndpoint>();
    served->bound = bound;
    served->endpoint = std::move(endpoint);
    shared_->served_endpoints.push_back(served);
    Shared::Host(shared_, served, std::move(listeners),
                 KeyedHash(options.seed, {AsView("nonces of an endpoint")}));
  }
  served->places.emplace(key, Shared::ServedKey{});
  ListenerSet seen = OrderedFor(options, served->endpoint);
  seen.entrance = std::make_shared<Shared::KeyEntrance>(shared_, served, key);
  return seen;
}

}  // namespace ringlet::transport
