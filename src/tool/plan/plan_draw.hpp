// `ringlet plan draw`: draws the rings and trees of a plan below the machine.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/draw/drawing.hpp"
#include "tool/draw/topo_layout.hpp"
#include "tool/plan/plan_view.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Draws the machine with a column below each device. Rings pass the columns from top to bottom in
/// one color per channel. The trees over nodes follow. Lines of a channel form a group: "ring 0".
/// \param look  look of the machine's lines; null: the width shows their bandwidth
Drawing DrawPlan(const PlanView& view, const LayoutLook* look = nullptr);

/// Adds the command to `plan`. Parsing it sets `chosen`.
void AddPlanDraw(CLI::App& plan, Action& chosen);

}  // namespace ringlet::cli
