// The input to the choice of algorithms: how the ranks lie, what links cost, what the user allows.
// The same values on all ranks. Pure.
#pragma once
#include "base/settings/settings.hpp"
#include "collective/select/select.hpp"
#include "comm/peers/peer_table.hpp"
#include "plan/channels/channel_plan.hpp"
#include "plan/search/given_graphs.hpp"

namespace ringlet::comm {

/// Ranks in the order of the plan's first ring, and by host.
collective::Layout LayoutOf(const plan::ChannelPlan& plan, const PeerTable& peer_table);

/// \param measured  what RINGLET_TUNE_FILE holds
/// \pre  Process::Start has accepted the settings
collective::Tuner TunerFor(const Settings& settings, collective::TuningTable measured);

/// Reads the file that RINGLET_TUNE_FILE names, and makes its content part of what ranks must agree
/// about: settings.tune_file. Without that setting nothing happens.
/// Errors  kSystem  it cannot be read; kInvalidArgument  as TuningTable::Parse
Result<collective::TuningTable> ReadTuning(Settings& settings);

/// The same for the file of settings.graph_file. Whether it fits is seen when a communicator plans.
/// Errors  kSystem  it cannot be read
Result<plan::GraphText> ReadGraphFile(Settings& settings);

}  // namespace ringlet::comm
