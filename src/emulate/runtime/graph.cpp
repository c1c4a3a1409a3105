// Graphs: created explicitly or by capture, instantiated, launched; objects that live with them.
#include <cstring>
#include <memory>

#include "emulate/runtime/call.hpp"

namespace ringlet::cuda {
namespace {

/// A graph's references to a user object.
struct HeldObject {
  void* object;
  unsigned references;
};

void ReleaseHeld(void* data) {
  const std::unique_ptr<HeldObject> held(static_cast<HeldObject*>(data));
  static_cast<void>(Host().user_objects().Release(held->object, held->references));
}

Answer Retain(ringletGraph_t graph, void* object, unsigned references, unsigned flags) {
  constexpr unsigned kMove = 1;  // moves the caller's references to the graph
  if (flags > kMove) return Invalid("unknown flags");
  if (flags != kMove) {
    const Status retained = Host().user_objects().Retain(object, references);
    if (!retained.ok()) return ToAnswer(retained.error());
  }
  auto held = std::make_unique<HeldObject>(HeldObject{object, references});
  const Answer given = FromStream(ringletGraphOnDestroy(graph, ReleaseHeld, held.get()));
  if (given.ok()) {
    static_cast<void>(held.release());
  } else if (flags != kMove) {
    static_cast<void>(Host().user_objects().Release(object, references));
  }
  return given;
}

Answer FromObjects(const Status& status) {
  return status.ok() ? Done() : ToAnswer(status.error());
}

Answer CheckMemory(const void* pointer, std::size_t bytes) {
  if (pointer == nullptr) return IsNull("an address");
  return FromObjects(Host().memory().Check(pointer, bytes));
}

// The value is 1, 2 or 4 bytes wide.
void FillElements(const MemsetParameters& is) {
  for (std::size_t row = 0; row < is.height; ++row) {
    auto* const begin = static_cast<std::byte*>(is.target) + row * is.pitch;
    for (std::size_t i = 0; i < is.width; ++i)
      std::memcpy(begin + i * is.element_bytes, &is.value, is.element_bytes);
  }
}

int Instantiate(const char* function, ringletGraphExec_t* executable, ringletGraph_t graph,
                unsigned long long flags) {
  return Call(function, [&]() -> Answer {
    constexpr unsigned long long kDeviceLaunch = 4;
    if ((flags & kDeviceLaunch) != 0)
      return {CudaCode::kNotSupported, "only the host can launch graphs"};
    return FromStream(ringletGraphInstantiate(executable, graph));
  });
}

}  // namespace

RINGLET_CUDA_FUNCTION int cudaGraphCreate(ringletGraph_t* graph, unsigned flags) {
  return Call("cudaGraphCreate", [&]() -> Answer {
    if (flags != 0) return Invalid("flags is not 0");
    return FromStream(ringletGraphCreate(graph));
  });
}

RINGLET_CUDA_FUNCTION int cudaGraphDestroy(ringletGraph_t graph) {
  return Call("cudaGraphDestroy", [&] { return FromStream(ringletGraphDestroy(graph)); });
}

RINGLET_CUDA_FUNCTION int cudaGraphAddHostNode(ringletGraphNode_t* node, ringletGraph_t graph,
                                               const ringletGraphNode_t* needs, std::size_t count,
                                               const HostNodeParameters* parameters) {
  return Call("cudaGraphAddHostNode", [&]() -> Answer {
    if (parameters == nullptr || parameters->function == nullptr) return IsNull("pNodeParams");
    return FromStream(
        ringletGraphAddHostNode(node, graph, needs, count, parameters->function, parameters->data));
  });
}

RINGLET_CUDA_FUNCTION int cudaGraphAddEmptyNode(ringletGraphNode_t* node, ringletGraph_t graph,
                                                const ringletGraphNode_t* needs,
                                                std::size_t count) {
  return Call("cudaGraphAddEmptyNode",
              [&] { return FromStream(ringletGraphAddEmptyNode(node, graph, needs, count)); });
}

RINGLET_CUDA_FUNCTION int cudaGraphAddMemcpyNode1D(ringletGraphNode_t* node, ringletGraph_t graph,
                                                   const ringletGraphNode_t* needs,
                                                   std::size_t count, void* target,
                                                   const void* source, std::size_t bytes, int) {
  return Call("cudaGraphAddMemcpyNode1D", [&]() -> Answer {
    if (const Answer fits = CheckMemory(target, bytes); !fits.ok()) return fits;
    if (const Answer fits = CheckMemory(source, bytes); !fits.ok()) return fits;
    return AddNode(node, graph, needs, count, [=] { std::memmove(target, source, bytes); });
  });
}

RINGLET_CUDA_FUNCTION int cudaGraphAddMemsetNode(ringletGraphNode_t* node, ringletGraph_t graph,
                                                 const ringletGraphNode_t* needs, std::size_t count,
                                                 const MemsetParameters* parameters) {
  return Call("cudaGraphAddMemsetNode", [&]() -> Answer {
    if (parameters == nullptr) return IsNull("pMemsetParams");
    const MemsetParameters is = *parameters;
    if (is.element_bytes != 1 && is.element_bytes != 2 && is.element_bytes != 4)
      return Invalid("elementSize is not 1, 2 or 4");
    std::size_t row = 0, bytes = 0;
    if (__builtin_mul_overflow(is.width, is.element_bytes, &row) ||
        __builtin_mul_overflow(is.height == 0 ? 0 : is.height - 1, is.pitch, &bytes) ||
        __builtin_add_overflow(bytes, row, &bytes))
      return Invalid("the size exceeds any memory");
    if (const Answer fits = CheckMemory(is.target, bytes); !fits.ok()) return fits;
    return AddNode(node, graph, needs, count, [is] { FillElements(is); });
  });
}

RINGLET_CUDA_FUNCTION int cudaGraphClone(ringletGraph_t* clone, ringletGraph_t graph) {
  return Call("cudaGraphClone", [&] { return FromStream(ringletGraphClone(clone, graph)); });
}

RINGLET_CUDA_FUNCTION int cudaGraphGetNodes(ringletGraph_t graph, ringletGraphNode_t* nodes,
                                            std::size_t* count) {
  return Call("cudaGraphGetNodes",
              [&] { return FromStream(ringletGraphGetNodes(graph, nodes, count)); });
}

RINGLET_CUDA_FUNCTION int cudaGraphInstantiate(ringletGraphExec_t* executable, ringletGraph_t graph,
                                               unsigned long long flags) {
  return Instantiate("cudaGraphInstantiate", executable, graph, flags);
}

RINGLET_CUDA_FUNCTION int cudaGraphInstantiateWithFlags(ringletGraphExec_t* executable,
                                                        ringletGraph_t graph,
                                                        unsigned long long flags) {
  return Instantiate("cudaGraphInstantiateWithFlags", executable, graph, flags);
}

RINGLET_CUDA_FUNCTION int cudaGraphLaunch(ringletGraphExec_t executable, ringletStream_t stream) {
  return Call("cudaGraphLaunch",
              [&] { return FromStream(ringletGraphLaunch(executable, stream)); });
}

RINGLET_CUDA_FUNCTION int cudaGraphExecDestroy(ringletGraphExec_t executable) {
  return Call("cudaGraphExecDestroy",
              [&] { return FromStream(ringletGraphExecDestroy(executable)); });
}

RINGLET_CUDA_FUNCTION int cudaUserObjectCreate(void** object, void* data, void (*end)(void*),
                                               unsigned references, unsigned flags) {
  return Call("cudaUserObjectCreate", [&]() -> Answer {
    constexpr unsigned kNoDestructorSync = 1;
    if (object == nullptr) return IsNull("object_out");
    if (flags != kNoDestructorSync) return Invalid("flags is not cudaUserObjectNoDestructorSync");
    auto made = Host().user_objects().Create(data, end, references);
    if (!made.ok()) return ToAnswer(made.error());
    *object = *made;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaUserObjectRetain(void* object, unsigned references) {
  return Call("cudaUserObjectRetain",
              [&] { return FromObjects(Host().user_objects().Retain(object, references)); });
}

RINGLET_CUDA_FUNCTION int cudaUserObjectRelease(void* object, unsigned references) {
  return Call("cudaUserObjectRelease",
              [&] { return FromObjects(Host().user_objects().Release(object, references)); });
}

RINGLET_CUDA_FUNCTION int cudaGraphRetainUserObject(ringletGraph_t graph, void* object,
                                                    unsigned references, unsigned flags) {
  return Call("cudaGraphRetainUserObject",
              [&] { return Retain(graph, object, references, flags); });
}

}  // namespace ringlet::cuda
