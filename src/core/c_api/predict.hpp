// Predictions for the Python package, which loads libringlet.so.0 without an extension.
#pragma once
#include <cstdint>

#include "ringlet/export.hpp"

extern "C" {
/// The arguments of ringlet.predict, which checks the numbers.
struct RingletPredictionRequest {
  const char* xml;   ///< the text of an NCCL topology file
  const char* name;  ///< of the text, for errors
  std::uint32_t hosts;
  const char* operation;  ///< "all_reduce"
  std::uint64_t bytes;
  std::int32_t flows;  ///< 0: without the bytes of each link
};

/// Returns the JSON of ringlet::comm::PredictionJson, or the message of its error. The caller
/// passes it to free(). Null: memory ran out. \param failed  set to 1 for an error, otherwise to 0
RINGLET_API char* ringlet_predict(const RingletPredictionRequest* request, std::int32_t* failed);
}
