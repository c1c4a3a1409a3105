// The ranks of a group that are still there, also before anything connects its ranks.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/control/beacon.hpp"
#include "frontends/torch/group/key_store.hpp"

namespace ringlet::torch_api {

/// Each rank puts the address of its process's beacon into the store when it makes the group, and a
/// farewell when it leaves; others look when they have waited in vain. Safe from any thread.
class Presence {
 public:
  enum class State : std::uint8_t {
    kUnknown,  ///< has not made the group yet, or cannot be looked at from here
    kThere,
    kLeft,  ///< destroyed the group, or its program ended
    kGone,  ///< its process ended without that
  };

  /// \param beacon  null: others cannot see this rank
  Presence(KeyStore& store, std::uint32_t rank, std::shared_ptr<comm::Beacon> beacon);

  /// The errors of both are the store's.
  Status Announce();
  Status Leave();

  /// The state of another rank, as far as it is known. Cost a system call; at the first look, some
  /// later ones, and before it says kGone, a request to the store.
  /// \param closely  ask the store for the address if it is not known
  State Of(std::uint32_t rank, bool closely = false);

 private:
  struct Known {
    std::optional<comm::Sight> sight;
    std::uint32_t looks = 0;
    State state = State::kUnknown;
  };
  void LookInStore(std::uint32_t rank, Known& known);

  KeyStore& store_;
  const std::uint32_t rank_;
  const std::shared_ptr<comm::Beacon> beacon_;
  std::mutex mutex_;
  std::map<std::uint32_t, Known> known_;
};

/// "rank 3 is gone: its process has ended", if that is so, or if it has left; else empty.
std::string WhyInVain(Presence& presence, std::uint32_t rank);
/// The same of all ranks below `end` but this one, of the first of them that `WhyInVain` names.
std::string WhyInVain(Presence& presence, std::uint32_t end, std::uint32_t but);
/// Of those of `ranks` for which there is one, in the order in which to name them: ranks that have
/// left may have done so because of others that are gone, which come first.
std::vector<std::pair<std::uint32_t, std::string>> WhyInVain(
    Presence& presence, const std::vector<std::uint32_t>& ranks);

}  // namespace ringlet::torch_api
