#pragma once

// Marks a function that runs between fork and exec, or in a box before it is locked: copies of
// locked locks may exist, so no allocation, no locks, no stdio, no exceptions. The marker is for
// the reader; the enforcement is dev/check_child_symbols.py, which compares what this library
// imports with an allow-list at every build.
#define AFTER_FORK __attribute__((noinline))
