#pragma once

namespace glovebox::zygote {

// What the interpreter allocates before it is forked, arranged so that a box copies little of it:
// in huge pages, of which a fork copies, and an end gives back, one entry instead of 512; and
// without gaps, so that what a box allocates lies together on few pages, not on many that it would
// have to copy for a few bytes each. Memory beyond what is in use: less than 8 MB per zygote, which
// all its boxes share. One thread. Where the kernel has no huge pages to give, pages stay small.

// Before the interpreter starts.
void PrepareHeap();

// When it has done all that it does before the first fork. From here on memory comes as usual.
void SettleHeap();

}  // namespace glovebox::zygote
