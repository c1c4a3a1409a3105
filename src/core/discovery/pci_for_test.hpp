// Writes PCI functions into a tree in the kernel's form.
#pragma once
#include <string>

#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::discovery {

/// No file is written for an empty value.
struct FunctionFiles {
  std::string device_class = "0x060400";
  std::string vendor = {};
  std::string device = {};
  std::string max_speed = {};
  std::string max_width = {};
  std::string current_speed = {};
  std::string current_width = {};
  std::string numa = {};
  std::string local_cpus = {};
};

/// \param path  below /sys/devices, such as "pci0000:17/0000:17:00.0/0000:18:00.0"; only the last
///              is written
inline void WriteFunction(os::TempTree& tree, const std::string& path, const FunctionFiles& files) {
  const std::string folder = "sys/devices/" + path;
  const std::string bus = path.substr(path.rfind('/') + 1);
  tree.Directory(folder);
  tree.Link("sys/bus/pci/devices/" + bus, "../../../devices/" + path);
  const std::pair<const char*, const std::string&> all[] = {
      {"class", files.device_class},
      {"vendor", files.vendor},
      {"device", files.device},
      {"max_link_speed", files.max_speed},
      {"max_link_width", files.max_width},
      {"current_link_speed", files.current_speed},
      {"current_link_width", files.current_width},
      {"numa_node", files.numa},
      {"local_cpus", files.local_cpus},
  };
  for (const auto& [name, content] : all)
    if (!content.empty()) tree.Write(folder + "/" + name, content + "\n");
}

}  // namespace ringlet::discovery
