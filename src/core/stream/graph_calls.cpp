// Graphs of host functions. A program or a capture builds them. They can be launched many times.
#include <fmt/format.h>

#include <utility>

#include "stream/stream_table.hpp"

namespace ringlet::stream {
namespace {

using GraphRetainers = std::vector<std::shared_ptr<GraphRetainer>>;

StreamItem ItemOf(const GraphSegment& segment, const std::vector<ItemEndRef>& done,
                  const ExecState& exec) {
  StreamItem item{.tasks = segment.tasks, .keeps = exec.keepers};
  for (const std::uint32_t before : segment.after) item.after.push_back(done[before]);
  return item;
}

}  // namespace

void StreamTable::NameNodes(GraphState& graph) {
  while (graph.names.size() < graph.graph.nodes().size()) {
    const auto node = NextHandle<ringletGraphNode_t>();
    nodes_[node] = {&graph, static_cast<NodeIndex>(graph.names.size())};
    graph.names.push_back(node);
  }
}

Answer StreamTable::NodesOf(const GraphState& graph, std::span<const ringletGraphNode_t> nodes,
                            std::vector<NodeIndex>* indices) {
  for (const ringletGraphNode_t node : nodes) {
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return Unknown(node, "node");
    if (found->second.graph != &graph)
      return {ringletInvalidHandle, "a node to run before is of another graph"};
    indices->push_back(found->second.index);
  }
  return {};
}

Answer StreamTable::CreateGraph(ringletGraph_t* graph) {
  const Lock lock(mutex_);
  *graph = NextHandle<ringletGraph_t>();
  graphs_[*graph] = std::make_shared<GraphState>();
  return {};
}

Answer StreamTable::DestroyGraph(ringletGraph_t graph) {
  std::shared_ptr<GraphState> dropped;  // destroyed after the lock: its end calls the program
  const Lock lock(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return Unknown(graph, "graph");
  if (found->second->in_capture)
    return {ringletInvalidArgument, "the graph belongs to a capture that is not over"};
  dropped = Withdraw(graph);
  return {};
}

Answer StreamTable::AddNode(ringletGraphNode_t* node, ringletGraph_t graph,
                            std::span<const ringletGraphNode_t> dependencies, TaskRef task) {
  const Lock lock(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return Unknown(graph, "graph");
  GraphState& state = *found->second;
  std::vector<NodeIndex> after;
  RINGLET_ANSWER(NodesOf(state, dependencies, &after));
  const auto added = state.graph.Add(std::move(task), std::move(after));
  if (!added.ok()) return {ringletInvalidArgument, added.error().message};
  NameNodes(state);
  if (node) *node = state.names[*added];
  return {};
}

Answer StreamTable::Clone(ringletGraph_t* clone, ringletGraph_t graph) {
  const Lock lock(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return Unknown(graph, "graph");
  auto made = std::make_shared<GraphState>();
  made->graph = found->second->graph;
  NameNodes(*made);
  *clone = NextHandle<ringletGraph_t>();
  graphs_[*clone] = std::move(made);
  return {};
}

Answer StreamTable::GetNodes(ringletGraph_t graph, std::vector<ringletGraphNode_t>* nodes) {
  const Lock lock(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return Unknown(graph, "graph");
  *nodes = found->second->names;
  return {};
}

Answer StreamTable::OnDestroy(ringletGraph_t graph, std::function<void()> call) {
  const Lock lock(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return Unknown(graph, "graph");
  found->second->graph.OnEnd(std::move(call));
  return {};
}

Answer StreamTable::Instantiate(ringletGraphExec_t* exec, ringletGraph_t graph) {
  const Lock lock(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return Unknown(graph, "graph");
  if (found->second->in_capture)
    return {ringletInvalidArgument, "the graph belongs to a capture that is not over"};
  auto made = std::make_unique<ExecState>();
  made->graph = found->second->graph;
  made->division = Divide(made->graph);
  made->keepers = std::make_shared<const GraphRetainers>(made->graph.keepers());
  *exec = NextHandle<ringletGraphExec_t>();
  execs_[*exec] = std::move(made);
  return {};
}

Answer StreamTable::LaunchGraph(ringletGraphExec_t exec, ringletStream_t stream) {
  Lock lock(mutex_);
  StreamRef on;
  RINGLET_ANSWER(Enter(lock, stream, &on));
  const auto found = execs_.find(exec);
  if (found == execs_.end()) return Unknown(exec, "executable graph");
  ExecState& state = *found->second;
  RINGLET_ANSWER(CheckLegacy(*on));
  RINGLET_ANSWER(CheckCapturing(*on));
  if (on->capture) {
    auto leaves = on->capture->graph->graph.Splice(state.graph, on->tips);
    if (!leaves.ok()) return {ringletInvalidArgument, leaves.error().message};
    NameNodes(*on->capture->graph);
    on->tips = *std::move(leaves);
    return {};
  }
  if (state.division.segments.empty()) return {};
  Status started = on->worker.Start();
  while (started.ok() && state.lanes.size() + 1 < state.division.lanes) {
    state.lanes.push_back(std::make_unique<StreamWorker>(on->device, false));
    started = state.lanes.back()->Start();
  }
  for (const auto& lane : state.lanes)
    if (started.ok()) started = lane->Start();
  if (!started.ok()) return {ringletOutOfMemory, started.error().message};
  IssueGraph(state, *on);
  return {};
}

void StreamTable::IssueGraph(ExecState& exec, StreamState& stream) {
  const GraphDivision& division = exec.division;
  std::vector<ItemEndRef> begin = ImplicitPredecessors(stream);
  if (IsPendingOrFailed(stream.last)) begin.push_back(stream.last);
  std::vector<ItemEndRef> done;
  std::vector<ItemEndRef> leaves;
  for (std::uint32_t i = 0; i < division.segments.size(); ++i) {
    const GraphSegment& segment = division.segments[i];
    StreamItem item = ItemOf(segment, done, exec);
    if (segment.after.empty()) {
      item.after = begin;
      if (exec.last && exec.last->pending()) item.after_any_end.push_back(exec.last);
    }
    for (const OrderSpan& span : division.orders) {
      if (!span.order->forgiven()) item.sources.push_back(span.order);
      if (span.first != i) continue;
      if (ItemEndRef last = span.order->last(); last && last->pending())
        item.after_any_end.push_back(std::move(last));
    }
    done.push_back(item.done);
    if (segment.leaf) leaves.push_back(item.done);
    StreamWorker& worker = segment.lane == 0 ? stream.worker : *exec.lanes[segment.lane - 1];
    worker.Push(std::move(item));
  }
  for (const OrderSpan& span : division.orders) span.order->Follow(done[span.last]);
  if (done.size() == 1) {
    stream.last = done.front();
  } else {
    Issue(stream, {.after = std::move(leaves)});
  }
  exec.last = stream.last;
}

Answer StreamTable::DestroyExec(ringletGraphExec_t exec) {
  std::unique_ptr<ExecState> dropped;  // destroyed after the lock: its end calls the program
  {
    const Lock lock(mutex_);
    const auto found = execs_.find(exec);
    if (found == execs_.end()) return Unknown(exec, "executable graph");
    dropped = std::move(found->second);
    execs_.erase(found);
    // The threads end when all launches are over. Reap joins them later.
    for (auto& lane : dropped->lanes) {
      lane->Close();
      retired_lanes_.push_back({.lane = std::move(lane), .last = dropped->last});
    }
  }
  Reap();
  return {};
}

}  // namespace ringlet::stream
