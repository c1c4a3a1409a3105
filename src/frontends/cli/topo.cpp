#include "frontends/cli/topo.hpp"

#include "frontends/cli/check/topo_check.hpp"
#include "frontends/cli/draw/topo_diff.hpp"
#include "frontends/cli/draw/topo_draw.hpp"
#include "frontends/cli/topo/topo_complete.hpp"
#include "frontends/cli/topo/topo_dump.hpp"
#include "frontends/cli/topo/topo_fuse.hpp"
#include "frontends/cli/topo/topo_gather.hpp"
#include "frontends/cli/topo/topo_lint.hpp"
#include "frontends/cli/topo/topo_matrix.hpp"
#include "frontends/cli/topo/topo_path.hpp"
#include "frontends/cli/topo/topo_show.hpp"

namespace ringlet::cli {

void AddTopo(CLI::App& tool, Action& chosen) {
  CLI::App* topo = tool.add_subcommand("topo", "Show machines, and check what files say of them");
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
