// NCCL's configuration files, read from the places where NCCL reads them.
#pragma once
#include <string>

#include "base/settings/conf_file.hpp"
#include "base/settings/settings.hpp"

namespace ringlet::os {

/// The variables of the file named by NCCL_CONF_FILE of `env`, or else of .nccl.conf in the folder
/// HOME of `env`, and then those of /etc/nccl.conf. The last two files may be missing. A named file
/// that is missing, an unreadable file, and a file of more than 1 MiB yield a warning.
/// \param root  the folder with etc, for tests
FileVariables ReadConfFiles(const EnvMap& env, const std::string& root = "/");

/// The settings of a process with this environment: ParseSettings with these files.
Result<Settings> ReadSettings(const EnvMap& env);

}  // namespace ringlet::os
