// The macro that exports functions and classes from libringlet.so, which hides everything else.
#pragma once

/// Marks a declaration of the public C++ interface with its definition in the library. Inline
/// functions, templates and plain structs do not need it.
#define RINGLET_API __attribute__((visibility("default")))
