#include <utility>

#include "ringlet/topology.hpp"
#include "topo/check/check.hpp"
#include "topology_api/contents.hpp"

namespace ringlet::topology {

std::vector<HostDefect> Check(const Topology& topology, const Topology* expected) {
  const Topology::Contents& host = topology.contents();
  std::vector<HostDefect> defects;
  for (Defect& defect :
       Check(CheckInput{.view = host.view,
       .positions = host.positions,
       .findings = host.findings,
       .links = host.links,
       .expected = expected == nullptr ? nullptr : &expected->contents().view,
       .expected_name = expected == nullptr ? std::string_view() : expected->name()}))
    defects.push_back({.rule = std::string(defect.rule->word),
                       .severity = defect.severity,
                       .remedy = defect.rule->remedy,
                       .where = std::move(defect.where),
                       .name = std::move(defect.name),
                       .at = defect.at,
                       .reason = std::move(defect.reason),
                       .cure = std::move(defect.cure)});
  return defects;
}

}  // namespace ringlet::topology
