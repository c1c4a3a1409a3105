// Structs that a caller fills in, checked field by field.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ringlet/compat/nccl.h"
#include "ringlet/status.hpp"

namespace ringlet::c_api {

/// The part of a communicator's config that has an effect here.
struct CommOptions {
  bool blocking = true;                          ///< calls wait for what they begin
  std::shared_ptr<const std::string> name = {};  ///< null: none
  // Of ncclPutSignal.
  std::uint32_t contexts = 1;
  std::uint32_t signals = 1;  ///< of each context
};

/// \param inherited  of what is not set: where there is no config, all; else what a config says
///                   that leaves everything open
/// Of fields that the caller's version of the struct does not have, and of those left unset,
/// nothing is said.
/// Errors  kInvalidArgument  names the field, its value and what it may be
Result<CommOptions> ReadConfig(const ncclConfig_t* config, const CommOptions& inherited);

/// Sentences about the fields of a sound config that are set and have no effect here.
std::vector<std::string> WithoutEffect(const ncclConfig_t* config);

/// The part of a call's config that has an effect here.
struct CallOptions {
  std::string algorithms;        ///< see comm::ReadSelection
  bool forces = true;            ///< else any algorithm will do where none of these can
  cudaEvent_t begins = nullptr;  ///< recorded where the call begins; null: none
};
/// A null config is in order.
/// Errors  kInvalidArgument  names the field
Result<CallOptions> ReadCallConfig(const ncclCollConfig_t* config);

struct Encryption {
  bool wanted = false;
  std::string key;
};
/// Errors  kInvalidArgument  names the field, and never shows the key
Result<Encryption> ReadEncryption(const ncclEncryptionConfig_t& config);

/// Errors  kInvalidArgument  null, or not made with NCCL_SIM_INFO_INITIALIZER
Status CheckSimInfo(const ncclSimInfo_t* info);

}  // namespace ringlet::c_api
