// The input to the choice of algorithms: the layout of ranks, the cost of links, and the algorithms
// that the user allows. The same values on all ranks. Pure.
#pragma once
#include "base/settings/settings.hpp"
#include "collective/select/select.hpp"
#include "comm/peers/peer_table.hpp"
#include "plan/channels/channel_plan.hpp"
#include "plan/search/given_graphs.hpp"

namespace ringlet::comm {

/// Ranks in the order of the plan's first ring, and by host.
collective::Layout LayoutOf(const plan::ChannelPlan& plan, const PeerTable& peer_table);

/// \param measured  the contents of RINGLET_TUNE_FILE
/// \pre  Process::Start has accepted the settings
collective::Tuner TunerFor(const Settings& settings, collective::TuningTable measured);

/// Reads the file that RINGLET_TUNE_FILE names, and adds its digest to settings.tune_file, on which
/// ranks must agree. Does nothing without that setting.
/// Errors  kSystem  it cannot be read; kInvalidArgument  as TuningTable::Parse
Result<collective::TuningTable> ReadTuning(Settings& settings);

/// Does the same for settings.graph_file. The planning of a communicator checks its content.
/// Errors  kSystem  it cannot be read
Result<plan::GraphText> ReadGraphFile(Settings& settings);

}  // namespace ringlet::comm
