#include "frontends/cli/peers/peer_build.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace ringlet::cli {

std::string PeerBuildCommand(const std::filesystem::path& folder, std::string_view packages,
                             std::string_view target) {
  const std::string build = folder.parent_path().string();
  return fmt::format(
      "{}apt-get install -y {} && cmake -DRINGLET_PEERS=ON {} && cmake --build {} --target {}",
      ::geteuid() == 0 ? "" : "sudo ", packages, build, build, target);
}

}  // namespace ringlet::cli
