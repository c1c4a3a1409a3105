// The traffic that the kernel keeps away from a TCP listener, so that strangers cost its process no
// time.
//
// If callers send first, the kernel can hold a silent caller for a second (TCP_DEFER_ACCEPT). Once
// strangers are known to call, a filter on the listener drops connections with a wrong first
// message before they are accepted.
#pragma once
#include <string_view>

namespace ringlet::os {

/// The length of a greeting. A filter compares all of it.
inline constexpr std::size_t kGreetingBytes = 4;

/// Returns true if the kernel may hold callers. False if it drops new callers when too many are
/// half open (net.ipv4.tcp_syncookies is 0 or cannot be read). The value is that of the first call
/// in this process or in the process that forked it.
bool KernelHoldsCallers();

/// Makes `listener` deliver callers when they have sent data, and silent ones after a second.
void DeferSilentCallers(int listener);

/// Makes `listener` accept only callers with `greeting`, of kGreetingBytes. The kernel drops other
/// traffic without notice to its senders. Returns false if the kernel refuses.
bool AdmitOnly(int listener, std::string_view greeting);

/// Removes the filter that a socket accepted from such a listener inherits.
void AdmitAll(int accepted);

}  // namespace ringlet::os
