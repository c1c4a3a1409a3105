// The traffic that the kernel keeps away from a listener over TCP, so that strangers cost its
// process nothing.
//
// If callers are known to speak first, one that says nothing is left to the kernel for a second
// (TCP_DEFER_ACCEPT). And once it is clear that strangers call, a filter on the listener drops what
// does not begin as it should before there is a connection to accept.
#pragma once
#include <string_view>

namespace ringlet::os {

/// The bytes of a beginning that a filter compares: all of it.
inline constexpr std::size_t kGreetingBytes = 4;

/// Whether callers may be left to the kernel: not where it drops new ones when it has too many half
/// open (net.ipv4.tcp_syncookies is 0, or cannot be read). As it was when this process first asked,
/// or the one that it was forked from.
bool KernelHoldsCallers();

/// Has `listener` give out those who have said something, at once, and others after a second.
void DeferSilentCallers(int listener);

/// Has `listener` take in only those who begin with `greeting`, of kGreetingBytes. Other traffic is
/// dropped, and its senders are not told. False where the kernel does not let us.
bool AdmitOnly(int listener, std::string_view greeting);

/// Has a socket accepted from such a listener, whose filter it has, hear everything.
void AdmitAll(int accepted);

}  // namespace ringlet::os
