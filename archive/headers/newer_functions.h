/* Functions that the command calls and glibc 2.17 does not have. Included before each source of the archive's build.
 * They have names of their own because some headers declare the functions nevertheless. */
#ifndef BLAME_ARCHIVE_NEWER_FUNCTIONS_H
#define BLAME_ARCHIVE_NEWER_FUNCTIONS_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !__GLIBC_PREREQ(2, 26)
static inline void *newer_reallocarray(void *items, size_t count, size_t item_bytes)
{
    size_t bytes;
    if (!__builtin_mul_overflow(count, item_bytes, &bytes))
        return realloc(items, bytes);
    errno = ENOMEM;
    return NULL;
}
#define reallocarray newer_reallocarray
#endif

#if !__GLIBC_PREREQ(2, 27)
static inline int newer_memfd_create(const char *name, unsigned flags)
{
    return (int)syscall(SYS_memfd_create, name, flags);
}
#define memfd_create newer_memfd_create
#endif

#if !__GLIBC_PREREQ(2, 28)
static inline int newer_renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}
#define renameat2 newer_renameat2
#endif

#if !__GLIBC_PREREQ(2, 30)
static inline ssize_t newer_getdents64(int folder, void *entries, size_t bytes)
{
    return syscall(SYS_getdents64, folder, entries, bytes);
}
#define getdents64 newer_getdents64
#endif

/* Flags of the kernel's that these headers of glibc do not name. */
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif

#endif
