/* How much this process has mapped, for tests that limit it. Included after _GNU_SOURCE and harness.h. */
#ifndef MAPPED_H
#define MAPPED_H

#include <unistd.h>

static inline long mapped_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
    if (file != NULL)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

#endif
