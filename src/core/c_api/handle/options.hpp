// Checks, field by field, structs that a caller fills.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ringlet/compat/nccl.h"
#include "ringlet/status.hpp"

namespace ringlet::c_api {

/// The effective part of a communicator's config.
struct CommOptions {
  bool blocking = true;                          ///< calls wait for the operations that they begin
  std::shared_ptr<const std::string> name = {};  ///< null: no name
  // Limits of ncclPutSignal.
  std::uint32_t contexts = 1;
  std::uint32_t signals = 1;  ///< per context
};

/// Reads and checks a config. Ignores unset fields and those beyond the caller's version.
/// \param inherited  the result if `config` is null. A non-null config does not inherit: unset
///                   fields take the defaults
/// Errors  kInvalidArgument  names the field, its value and the allowed values
Result<CommOptions> ReadConfig(const ncclConfig_t* config, const CommOptions& inherited);

/// Returns a message for each set but ignored field of a valid config.
std::vector<std::string> WithoutEffect(const ncclConfig_t* config);

/// The effective part of a call's config.
struct CallOptions {
  std::string algorithms;        ///< see comm::ReadSelection
  bool forces = true;            ///< false: any algorithm may run if none of these can
  cudaEvent_t begins = nullptr;  ///< recorded when the call begins; null: no event
};
/// A null config is valid.
/// Errors  kInvalidArgument  names the field
Result<CallOptions> ReadCallConfig(const ncclCollConfig_t* config);

struct Encryption {
  bool wanted = false;
  std::string key;
};
/// Errors  kInvalidArgument  names the field, never the key
Result<Encryption> ReadEncryption(const ncclEncryptionConfig_t& config);

/// Errors  kInvalidArgument  null, or not from NCCL_SIM_INFO_INITIALIZER
Status CheckSimInfo(const ncclSimInfo_t* info);

}  // namespace ringlet::c_api
