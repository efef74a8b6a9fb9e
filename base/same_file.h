/* Compares two files by device, inode and type. */
#ifndef BLAME_BASE_SAME_FILE_H
#define BLAME_BASE_SAME_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* [any] */
static inline bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && (a->st_mode & S_IFMT) == (b->st_mode & S_IFMT);
}

#endif
