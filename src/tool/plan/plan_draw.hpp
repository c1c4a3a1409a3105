// `ringlet plan draw`: the rings and trees of a plan below the machine.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/draw/drawing.hpp"
#include "tool/draw/topo_layout.hpp"
#include "tool/plan/plan_view.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

/// The machine; below each device its column, in which the rings pass from top to bottom, a color a
/// channel; then the trees over nodes. Lines of a channel are a group: "ring 0".
/// \param look  of the machine's lines; null: they are as wide as their bandwidth
Drawing DrawPlan(const PlanView& view, const LayoutLook* look = nullptr);

/// Adds the command to `plan`. When it is the one that was named, parsing sets `chosen`.
void AddPlanDraw(CLI::App& plan, Action& chosen);

}  // namespace ringlet::cli
