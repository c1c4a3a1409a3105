// NCCL's configuration files, read where NCCL looks for them.
#pragma once
#include <string>

#include "base/settings/conf_file.hpp"
#include "base/settings/settings.hpp"

namespace ringlet::os {

/// The variables of the file that NCCL_CONF_FILE of `env` names or, if it names none, of .nccl.conf
/// in the folder HOME of `env`; and behind it those of /etc/nccl.conf. Of these two either may be
/// missing. A file that was named and is not there, one that cannot be read, and one of more than 1
/// MiB, is a warning.
/// \param root  where /etc lies: for tests
FileVariables ReadConfFiles(const EnvMap& env, const std::string& root = "/");

/// The settings of a process with this environment: ParseSettings with those files.
Result<Settings> ReadSettings(const EnvMap& env);

}  // namespace ringlet::os
