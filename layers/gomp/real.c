/* Finds the real libgomp, and fills the table of its functions. */
#include "layers/gomp/real.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct real real;
bool real_cancellation;

/* The name under which a loader gives us the real library as a dependency of our own. */
#define PRIVATE_NAME "libblame-real-gomp.so.1"

/* Objects of the process whose names begin alike. Wheels of Python bring their own libgomp, as libgomp-HASH.so. */
struct copies {
    const char *beginning;
    int count;
    const char *names[2];
};

static int real_count_copy(struct dl_phdr_info *object, size_t bytes, void *found)
{
    struct copies *copies = found;
    const char *slash = strrchr(object->dlpi_name, '/'), *name = slash ? slash + 1 : object->dlpi_name;
    (void)bytes;
    if (strncmp(name, copies->beginning, strlen(copies->beginning)) != 0)
        return 0;
    if (copies->count < 2)
        copies->names[copies->count] = object->dlpi_name;
    copies->count++;
    return 0;
}

/* With LD_PRELOAD, the real library is the next one in the order of the program's libraries. One that was loaded later,
 * without RTLD_GLOBAL, is found by its name; that may be another vendor's. All functions come from one library. */
static void *real_find_preloaded(void)
{
    static const char *const beginnings[] = {"libgomp", "libomp", "libiomp"};
    struct copies copies = {NULL, 0, {NULL}};
    Dl_info found;
    void *next = dlvsym(RTLD_NEXT, "GOMP_parallel_end", "GOMP_1.0");
    if (next && dladdr(next, &found))
        return dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings) && !copies.count; i++) {
        copies.beginning = beginnings[i];
        dl_iterate_phdr(real_count_copy, &copies);
    }
    return copies.count ? dlopen(copies.names[0], RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* Other vendors' functions have other versions, or none. */
void *gomp_real(const char *name, const char *version)
{
    static void *library;
    static bool versioned;
    if (!library) {
        library = dlopen(PRIVATE_NAME, RTLD_LAZY | RTLD_NOLOAD);
        if (!library)
            library = real_find_preloaded();
        versioned = library && dlvsym(library, "GOMP_parallel_end", "GOMP_1.0");
    }
    void *found = versioned ? dlvsym(library, name, version) : NULL;
    return found || versioned || !library ? found : dlsym(library, name);
}

bool real_has_interface(void)
{
    Dl_info here, there;
    void *known = gomp_real("GOMP_parallel_end", "GOMP_1.0");
    void *library = known && dladdr(known, &here) ? dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = library ? dlsym(library, "__kmpc_fork_call") : NULL;
    if (library)
        dlclose(library);
    return found && dladdr(found, &there) && here.dli_fbase == there.dli_fbase;
}

bool real_is_given(void)
{
    void *given = dlopen(PRIVATE_NAME, RTLD_LAZY | RTLD_NOLOAD);
    if (given)
        dlclose(given);
    return given;
}

bool real_is_whole(void)
{
    return gomp_real("omp_get_max_threads", "OMP_1.0") && gomp_real("GOMP_parallel_end", "GOMP_1.0");
}

void real_say(const char *format, ...)
{
    char line[512];
    struct pollfd end = {.fd = STDERR_FILENO, .events = POLLOUT};
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    size_t bytes = length < (int)sizeof(line) ? (size_t)length : sizeof(line) - 1;
    if (length > 0 && poll(&end, 1, 0) == 1 && (end.revents & POLLOUT) && write(STDERR_FILENO, line, bytes) < 0)
        return; /* nobody is there to read it */
}

/* The program would not have started, or would end here as well, without the provider. */
__attribute__((noreturn, cold)) void real_lacks(const char *name)
{
    real_say("libblame-gomp: this process's libgomp has no %s, which the program calls\n", name);
    abort();
}

#define LACKS(name, ...)                                                                                               \
    static void lacks_##name(void)                                                                                     \
    {                                                                                                                  \
        real_lacks(#name);                                                                                             \
    }
GOMP_FUNCTIONS(LACKS)
GOMP_LOOP_STARTS(LACKS)
GOMP_RUNTIME_LOOP_STARTS(LACKS)
GOMP_LOOP_NEXTS(LACKS)
GOMP_ULL_LOOP_STARTS(LACKS)
GOMP_ULL_RUNTIME_LOOP_STARTS(LACKS)
GOMP_ULL_LOOP_NEXTS(LACKS)
GOMP_LOCK_FUNCTIONS(LACKS)

struct row {
    const char *name, *version;
    void (*lacks)(void);
    void (**place)(void);
};

#define PLACE(field)            (void (**)(void)) & real.field
#define ROW(name, version, ...) {#name, version, lacks_##name, PLACE(name)},
#define LOCK_ROWS(name, result)                                                                                        \
    {#name, "OMP_1.0", lacks_##name, PLACE(name##_10)}, {#name, "OMP_3.0", lacks_##name, PLACE(name##_30)},            \
        {#name "_", "OMP_1.0", lacks_##name, PLACE(name##_fortran_10)},                                                \
        {#name "_", "OMP_3.0", lacks_##name, PLACE(name##_fortran_30)},

static const struct row rows[] = {GOMP_FUNCTIONS(ROW)               /**/
                                  GOMP_LOOP_STARTS(ROW)             /**/
                                  GOMP_RUNTIME_LOOP_STARTS(ROW)     /**/
                                  GOMP_LOOP_NEXTS(ROW)              /**/
                                  GOMP_ULL_LOOP_STARTS(ROW)         /**/
                                  GOMP_ULL_RUNTIME_LOOP_STARTS(ROW) /**/
                                  GOMP_ULL_LOOP_NEXTS(ROW)          /**/
                                  GOMP_LOCK_FUNCTIONS(LOCK_ROWS)};

bool real_find_all(void)
{
    bool present = false;
    for (const struct row *row = rows; row < rows + sizeof(rows) / sizeof(*rows); row++) {
        void *found = gomp_real(row->name, row->version);
        present |= found != NULL;
        *row->place = row->lacks;
        if (found)
            memcpy(row->place, &found, sizeof(found));
    }
    real_cancellation = gomp_real("omp_get_cancellation", "OMP_4.0") && real.omp_get_cancellation();
    return present;
}
