/* Stands in for the allocator and for the mapping of memory. What fails are the allocations of one thread, each of them from one on or that
 * one alone; or those of all threads. */
#ifndef SCARCE_H
#define SCARCE_H

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Allocations that succeed before one fails; below 0: none fails. */
static _Thread_local long left = -1;
static _Thread_local int only_one;
static _Thread_local long failed;

/* Nothing is to be had, on no thread, but for what starting one takes. */
static int is_nowhere;
static int denied;
static _Thread_local int is_starting;

static inline int fails(void)
{
    if (__atomic_load_n(&is_nowhere, __ATOMIC_ACQUIRE) && !is_starting) {
        __atomic_add_fetch(&denied, 1, __ATOMIC_RELAXED);
        errno = ENOMEM;
        return 1;
    }
    if (left < 0 || left-- > 0)
        return 0;
    left = only_one ? -1 : 0;
    failed++;
    errno = ENOMEM;
    return 1;
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *base, size_t size) { return fails() ? NULL : __libc_realloc(base, size); }
void *aligned_alloc(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void **base, size_t alignment, size_t size)
{
    void *made = fails() ? NULL : __libc_memalign(alignment, size);
    if (made == NULL)
        return ENOMEM;
    *base = made;
    return 0;
}

void *mmap(void *base, size_t size, int protection, int flags, int file, off_t offset)
{
    return fails() ? MAP_FAILED : (void *)syscall(SYS_mmap, base, size, protection, flags, file, offset);
}

#endif
