// ringlet/stream.h: graphs.
#include <span>

#include "stream/stream_table.hpp"
#include "stream_api/run_guarded.hpp"

namespace ringlet::stream_api {
namespace {

using stream::Answer;
using stream::StreamTable;

Answer AddNode(ringletGraphNode_t* node, ringletGraph_t graph,
               const ringletGraphNode_t* dependencies, size_t count, stream::TaskRef task) {
  if (count > 0) RINGLET_ANSWER(RequireThere(dependencies, "dependencies"));
  return StreamTable::Here().AddNode(node, graph, std::span(dependencies, count), std::move(task));
}

Answer AddHostNode(ringletGraphNode_t* node, ringletGraph_t graph,
                   const ringletGraphNode_t* dependencies, size_t count,
                   ringletHostFunction_t function, void* data) {
  RINGLET_ANSWER(RequireThere(reinterpret_cast<const void*>(function), "function"));
  return AddNode(node, graph, dependencies, count,
                 TaskOf(function, std::make_shared<HostData>(data, nullptr)));
}

Answer GetNodes(ringletGraph_t graph, ringletGraphNode_t* nodes, size_t* count) {
  RINGLET_ANSWER(RequireThere(count, "count"));
  std::vector<ringletGraphNode_t> found;
  RINGLET_ANSWER(StreamTable::Here().GetNodes(graph, &found));
  CopyNodes(found, nodes, count);
  return {};
}

}  // namespace
}  // namespace ringlet::stream_api

namespace api = ringlet::stream_api;
using api::RequireThere;
using api::RunGuarded;
using ringlet::stream::Answer;
using ringlet::stream::StreamTable;

extern "C" {

ringletResult_t ringletGraphCreate(ringletGraph_t* graph) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(graph, "graph"));
    return StreamTable::Here().CreateGraph(graph);
  });
}

ringletResult_t ringletGraphDestroy(ringletGraph_t graph) {
  return RunGuarded([&] { return StreamTable::Here().DestroyGraph(graph); });
}

ringletResult_t ringletGraphAddHostNode(ringletGraphNode_t* node, ringletGraph_t graph,
                                        const ringletGraphNode_t* dependencies, size_t count,
                                        ringletHostFunction_t function, void* data) {
  return RunGuarded(
      [&] { return api::AddHostNode(node, graph, dependencies, count, function, data); });
}

ringletResult_t ringletGraphAddEmptyNode(ringletGraphNode_t* node, ringletGraph_t graph,
                                         const ringletGraphNode_t* dependencies, size_t count) {
  return RunGuarded([&] { return api::AddNode(node, graph, dependencies, count, nullptr); });
}

ringletResult_t ringletGraphClone(ringletGraph_t* clone, ringletGraph_t graph) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(clone, "clone"));
    return StreamTable::Here().Clone(clone, graph);
  });
}

ringletResult_t ringletGraphGetNodes(ringletGraph_t graph, ringletGraphNode_t* nodes,
                                     size_t* count) {
  return RunGuarded([&] { return api::GetNodes(graph, nodes, count); });
}

ringletResult_t ringletGraphInstantiate(ringletGraphExec_t* exec, ringletGraph_t graph) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(exec, "exec"));
    return StreamTable::Here().Instantiate(exec, graph);
  });
}

ringletResult_t ringletGraphLaunch(ringletGraphExec_t exec, ringletStream_t stream) {
  return RunGuarded([&] { return StreamTable::Here().LaunchGraph(exec, stream); });
}

ringletResult_t ringletGraphExecDestroy(ringletGraphExec_t exec) {
  return RunGuarded([&] { return StreamTable::Here().DestroyExec(exec); });
}

ringletResult_t ringletGraphOnDestroy(ringletGraph_t graph, ringletHostFunction_t function,
                                      void* data) {
  return RunGuarded([&]() -> Answer {
    RINGLET_ANSWER(RequireThere(reinterpret_cast<const void*>(function), "function"));
    return StreamTable::Here().OnDestroy(graph, [function, data] { function(data); });
  });
}

}  // extern "C"
