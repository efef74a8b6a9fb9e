#include "ompt_tool/counters/papi.h"

#include <dlfcn.h>
#include <papi.h>
#include <stdio.h>
#include <string.h>

#define PFM_KERNEL_AND_USER                                                                                  \
    (1 | 8)                  /* privilege levels of libpfm, which encodes PAPI's native events: PFM_PLM0, 3 */
#define PFM_PERF_EVENT_EXT 2 /* PFM_OS_PERF_EVENT_EXT: what PAPI itself asks for */

/* pfm_perf_encode_arg_t; its header is not part of PAPI's development package. */
struct pfm_request {
    void *attr;
    char **name;
    size_t size;
    int index, cpu, flags;
};

static struct {
    bool shared; /* the program had initialised it */
    int (*is_initialized)(void);
    int (*library_init)(int);
    void (*shutdown)(void);
    char *(*strerror)(int);
    int (*name_to_code)(const char *, int *);
    int (*code_to_name)(int, char *);
    int (*event_info)(int, PAPI_event_info_t *);
    int (*component)(const char *);
    int (*enum_preset)(int *, int);
    int (*enum_native)(int *, int, int);
    int (*encode)(const char *, int, int, void *);
    const char *(*pfm_strerror)(int);
} papi;

static const char *const libraries[] = {"libpapi.so.7.0", "libpapi.so.7", "libpapi.so"};

static const struct {
    const char *name;
    void **pointer;
} symbols[] = {
    {"PAPI_is_initialized", (void **)&papi.is_initialized},
    {"PAPI_library_init", (void **)&papi.library_init},
    {"PAPI_shutdown", (void **)&papi.shutdown},
    {"PAPI_strerror", (void **)&papi.strerror},
    {"PAPI_event_name_to_code", (void **)&papi.name_to_code},
    {"PAPI_event_code_to_name", (void **)&papi.code_to_name},
    {"PAPI_get_event_info", (void **)&papi.event_info},
    {"PAPI_get_component_index", (void **)&papi.component},
    {"PAPI_enum_event", (void **)&papi.enum_preset},
    {"PAPI_enum_cmp_event", (void **)&papi.enum_native},
    {"pfm_get_os_event_encoding", (void **)&papi.encode},
    {"pfm_strerror", (void **)&papi.pfm_strerror},
};

/* It stays loaded: a library that goes again may leave something behind in other threads. */
static bool load(char *why, size_t bytes)
{
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        if (!library && i == 0)
            snprintf(why, bytes, "%s", dlerror());
    }
    for (size_t i = 0; library && i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        *symbols[i].pointer = dlsym(library, symbols[i].name);
        if (!*symbols[i].pointer) {
            snprintf(why, bytes, "libpapi and its libpfm have no %s", symbols[i].name);
            return false;
        }
    }
    return library != NULL;
}

bool papi_open(char *why, size_t bytes)
{
    if (!load(why, bytes))
        return false;
    papi.shared = papi.is_initialized() != PAPI_NOT_INITED;
    int code = papi.shared ? (int)PAPI_VER_CURRENT : papi.library_init(PAPI_VER_CURRENT);
    if (code == (int)PAPI_VER_CURRENT)
        return true;
    snprintf(why, bytes, "%s", code > 0 ? "another version of PAPI" : papi.strerror(code));
    return false;
}

void papi_close(void)
{
    if (!papi.shared)
        papi.shutdown();
}

/* A native event, with or without its component's name. */
static bool encode(const char *name, struct perf_event *event, char *why, size_t bytes)
{
    const char *behind = strstr(name, ":::");
    struct pfm_request request = {.attr = event->attr, .size = sizeof(request)};
    memset(event, 0, sizeof(*event));
    int code = papi.encode(behind ? behind + 3 : name, PFM_KERNEL_AND_USER, PFM_PERF_EVENT_EXT, &request);
    if (code)
        snprintf(why, bytes, "not an event of the processor or the kernel (%s)", papi.pfm_strerror(code));
    return code == 0;
}

static bool encode_preset(const PAPI_event_info_t *info, struct papi_event *event, char *why, size_t bytes)
{
    bool sum = strcmp(info->derived, "NOT_DERIVED") == 0 || strcmp(info->derived, "DERIVED_ADD") == 0;
    event->subtract = strcmp(info->derived, "DERIVED_SUB") == 0;
    if (info->count == 0) {
        snprintf(why, bytes, "this machine has no such counter");
        return false;
    }
    if ((!sum && !event->subtract) || info->count > PAPI_PARTS) {
        snprintf(why, bytes, "a formula of several counters (%s)", info->derived);
        return false;
    }
    for (event->parts = 0; event->parts < info->count; event->parts++)
        if (!encode(info->name[event->parts], &event->part[event->parts], why, bytes))
            return false;
    return true;
}

bool papi_find(const char *name, struct papi_event *event, char *why, size_t bytes)
{
    static PAPI_event_info_t info; /* large */
    int number;
    memset(event, 0, sizeof(*event));
    int code = papi.name_to_code(name, &number);
    if (code != PAPI_OK) {
        snprintf(why, bytes, "PAPI does not know it on this machine (%s)", papi.strerror(code));
        return false;
    }
    if (IS_PRESET(number) || IS_USER_DEFINED(number)) {
        memset(&info, 0, sizeof(info));
        if (papi.event_info(number, &info) != PAPI_OK)
            info.count = 0;
        return encode_preset(&info, event, why, bytes);
    }
    event->parts = 1;
    return encode(name, &event->part[0], why, bytes);
}

static void offer(int number, const char *wanted, bool (*works)(const struct papi_event *event),
                  struct counter_nearest *nearest)
{
    char name[PAPI_MAX_STR_LEN + 1], why[COUNTER_NAME_BYTES];
    struct papi_event event;
    if (papi.code_to_name(number, name) != PAPI_OK || strlen(name) >= COUNTER_NAME_BYTES)
        return;
    if (counter_nearest_wants(nearest, wanted, name) && papi_find(name, &event, why, sizeof(why)) &&
        works(&event))
        counter_nearest_add(nearest, wanted, name);
}

void papi_find_nearest(const char *wanted, bool (*works)(const struct papi_event *event),
                       struct counter_nearest *nearest)
{
    nearest->count = 0;
    int number = PAPI_PRESET_MASK, component = papi.component("perf_event");
    for (int found = papi.enum_preset(&number, PAPI_ENUM_FIRST); found == PAPI_OK;
         found = papi.enum_preset(&number, PAPI_PRESET_ENUM_AVAIL))
        offer(number, wanted, works, nearest);
    number = PAPI_NATIVE_MASK;
    if (component < 0 || papi.enum_native(&number, PAPI_ENUM_FIRST, component) != PAPI_OK)
        return;
    do
        offer(number, wanted, works, nearest);
    while (papi.enum_native(&number, PAPI_ENUM_EVENTS, component) == PAPI_OK);
}
