// Which functions and classes libringlet.so shows. Everything else in it is hidden.
#pragma once

/// Marks a declaration of the public C++ interface that has its definition in the library.
/// Inline functions, templates and plain structs do without.
#define RINGLET_API __attribute__((visibility("default")))
