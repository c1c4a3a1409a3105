// Forms all ranks of new communicators that this process has, at once.
#pragma once
#include <cstddef>
#include <functional>
#include <stop_token>

#include "ringlet/status.hpp"

namespace ringlet::comm {

/// Calls `form` for each number below `count`, each on its own thread, because joining blocks until
/// all ranks have joined. The caller's thread forms a single rank. The first failure stops the
/// others, and is the result.
/// Errors  kSystem  a thread cannot be started; else those of `form`
Status FormTogether(std::size_t count,
                    const std::function<Status(std::size_t, const std::stop_token&)>& form);

}  // namespace ringlet::comm
