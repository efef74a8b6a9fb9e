/* Preloaded into a program: a directory `profile` becomes, as soon as it is made, a link to `other`, or, with REPLACES=OWNER, a directory of that user. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The tool then finds no list of libraries, and calls mkdir() by its name (docs/concurrency.md, "Names"). */
struct r_debug _r_debug;

int mkdir(const char *path, mode_t mode)
{
    int (*next)(const char *, mode_t);
    *(void **)&next = dlsym(RTLD_NEXT, "mkdir");
    const char *owner = getenv("REPLACES");
    int made = next(path, mode);
    if (made != 0 || strcmp(path, "profile") != 0)
        return made;
    if (owner && *owner)
        return chown(path, (uid_t)atoi(owner), (gid_t)-1);
    return rename(path, "moved") == 0 ? symlink("other", path) : -1;
}
