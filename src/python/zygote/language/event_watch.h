#pragma once

// What the interpreter's audit events (PEP 578) add to the language layer: whichever way a program
// came to an object, the act itself passes here. Attributes of functions and frames, text that
// becomes code, files, and operations whose module was never granted.

namespace glovebox::zygote {

// From here on, in this process, with the policy of Refusals().
void StartEventWatch();
void StopEventWatch();

}  // namespace glovebox::zygote
