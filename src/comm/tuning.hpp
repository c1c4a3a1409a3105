// What a communicator tells the choice of algorithms: how its ranks lie, what links cost, what the
// user allows. The same values on all ranks. Pure.
#pragma once
#include "base/settings.hpp"
#include "collective/choose.hpp"
#include "comm/census.hpp"
#include "plan/channel_plan.hpp"

namespace ringlet::comm {

/// Ranks in the order of the plan's first ring, and by host.
collective::Layout LayoutOf(const plan::ChannelPlan& plan, const Census& census);

/// \pre  Process::Start has accepted the settings
collective::Tuner TunerFor(const Settings& settings);

}  // namespace ringlet::comm
