#include "c_api/predict.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include "comm/machine/prediction.hpp"

namespace {

char* CopyForC(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace

char* ringlet_predict(const RingletPredictionRequest* request, std::int32_t* failed) {
  const auto json = ringlet::comm::PredictionJson({.xml = request->xml,
                                                   .name = request->name,
                                                   .hosts = request->hosts,
                                                   .operation = request->operation,
                                                   .bytes = request->bytes,
                                                   .flows = request->flows != 0});
  *failed = json.ok() ? 0 : 1;
  return CopyForC(json.ok() ? *json : "ringlet: " + json.error().message);
}
