// The result of a function of ringlet/stream.h and the message that explains it.
#pragma once
#include <string>
#include <utility>

#include "ringlet/stream.h"

namespace ringlet::stream {

struct [[nodiscard]] Answer {
  ringletResult_t code = ringletSuccess;
  std::string why = {};

  bool ok() const { return code == ringletSuccess; }
};

/// Returns the name of a result. Static storage.
const char* ResultName(ringletResult_t result);

}  // namespace ringlet::stream

/// Returns the answer of `expression` from the enclosing function, unless it is a success.
#define RINGLET_ANSWER(expression)                                                       \
  do {                                                                                   \
    if (::ringlet::stream::Answer ringlet_answer_ = (expression); !ringlet_answer_.ok()) \
      return ringlet_answer_;                                                            \
  } while (false)
