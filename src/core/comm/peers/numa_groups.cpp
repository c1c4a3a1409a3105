#include "comm/peers/numa_groups.hpp"

#include <map>

namespace ringlet::comm {

collective::Groups NumaGroups(std::span<const PeerInfo> peer_infos, std::span<const Rank> host,
                              std::uint64_t in_row) {
  std::map<std::uint64_t, std::vector<Rank>> by_node;
  for (std::uint32_t place = 0; place < host.size(); ++place)
    by_node[in_row == 0 ? peer_infos[Index(host[place])].numa : place / in_row].push_back(
        Rank{place});
  collective::Groups groups;
  for (auto& [node, ranks] : by_node) groups.push_back(std::move(ranks));
  return groups;
}

}  // namespace ringlet::comm
