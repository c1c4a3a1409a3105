#include "tool/topo.hpp"

#include "tool/check/topo_check.hpp"
#include "tool/draw/topo_diff.hpp"
#include "tool/draw/topo_draw.hpp"
#include "tool/topo/topo_complete.hpp"
#include "tool/topo/topo_dump.hpp"
#include "tool/topo/topo_fuse.hpp"
#include "tool/topo/topo_gather.hpp"
#include "tool/topo/topo_lint.hpp"
#include "tool/topo/topo_matrix.hpp"
#include "tool/topo/topo_path.hpp"
#include "tool/topo/topo_show.hpp"

namespace ringlet::cli {

void AddTopo(CLI::App& tool, Action& chosen) {
  CLI::App* topo = tool.add_subcommand("topo", "Show machines, and check their topology files");
  topo->require_subcommand(1);
  AddTopoShow(*topo, chosen);
  AddTopoDump(*topo, chosen);
  AddTopoGather(*topo, chosen);
  AddTopoLint(*topo, chosen);
  AddTopoCheck(*topo, chosen);
  AddTopoDiff(*topo, chosen);
  AddTopoComplete(*topo, chosen);
  AddTopoMatrix(*topo, chosen);
  AddTopoPath(*topo, chosen);
  AddTopoDraw(*topo, chosen);
  AddTopoFuse(*topo, chosen);
}

}  // namespace ringlet::cli
