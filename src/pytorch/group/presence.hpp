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
#include "pytorch/store/key_store.hpp"

namespace ringlet::torch_api {

/// Each rank puts the address of its process's beacon into the store when it makes the group, and a
/// farewell when it leaves; others look when they have waited in vain. Safe from any thread.
///
/// A program may make a group several times in one store, and new processes may do so after a
/// restart. Each time is a generation of the group. The ranks of one generation have the same
/// number: that of a rank's last generation and one more, as long as the process lives; and a new
/// process takes part in the generation of the others that live. Notes of an earlier generation say
/// nothing about the present one.
class Presence {
 public:
  enum class State : std::uint8_t {
    kUnknown,  ///< has not made the group yet, or cannot be looked at from here
    kThere,
    kLeft,  ///< destroyed the group, or its program ended
    kGone,  ///< its process ended without that
  };

  struct Self {
    std::uint32_t rank = 0;
    std::shared_ptr<comm::Beacon> beacon = nullptr;  ///< null: others cannot see this rank
    std::uint64_t process = 0;                       ///< as of ProcessNumber
  };
  /// \param store  of all generations
  Presence(KeyStore& store, Self self) : store_(store), self_(std::move(self)) {}

  /// Takes part in a generation, whose number `generation` gives then. Call it first.
  /// Errors  the store's
  Status Announce();
  enum class Use : std::uint8_t { kNone, kConnected, kFailed };
  /// \param use  whether this rank tried to connect to the others in this generation. If that
  ///             failed, it catches up with ranks that were ahead. Errors  the store's
  Status Leave(Use use);
  std::uint64_t generation() const { return generation_; }

  /// The state of another rank, as far as it is known. Cost a system call; at the first look, some
  /// later ones, and before it says kGone, a request to the store.
  /// \param closely  ask the store for the address if it is not known
  State Of(std::uint32_t rank, bool closely = false);
  /// Another rank of this generation has told its beacon by other means than its record.
  void Saw(std::uint32_t rank, const Address& beacon);

 private:
  /// The state of a rank, as the rank itself put it into the store.
  struct PresenceNote {
    std::uint64_t generation = 0;
    std::uint64_t first = 0;  ///< the generation in which a new process may still meet this one
    std::uint64_t process = 0;
    bool left = false;
    std::optional<Address> beacon = std::nullopt;
  };
  struct Known {
    std::optional<comm::Sight> sight;
    std::uint32_t looks = 0;
    State state = State::kUnknown;
  };
  Result<std::optional<PresenceNote>> NoteOf(std::uint32_t rank);
  Status Put(const PresenceNote& record);
  Status JoinLiving(PresenceNote& own);
  void LookInStore(std::uint32_t rank, Known& known);

  KeyStore& store_;
  const Self self_;
  std::uint64_t generation_ = 0;
  std::mutex mutex_;
  std::uint64_t newest_ = 0;  // generation that another rank was seen in
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
