// How a process that serves a master uses malloc.
#pragma once

#include <malloc.h>

namespace mooncake {

// Every call of many keys frees some hundreds of KiB at the end of a heap. By default glibc returns that to the kernel at once and
// asks for it again in the next call, page by page (README.md, "Decision: freed memory stays"). Kept instead, at most, for each of
// the (eight a core) heaps:
inline constexpr int kKeptHeapBytes = 8 << 20;

// At the start of main, before there are threads.
inline void KeepFreedMemory() {
  (void)mallopt(M_TRIM_THRESHOLD, kKeptHeapBytes);
  // By itself the line above also stops glibc from learning that blocks of this size come and go.
  (void)mallopt(M_MMAP_THRESHOLD, kKeptHeapBytes / 2);
}

}  // namespace mooncake
