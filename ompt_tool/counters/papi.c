#include "ompt_tool/counters/papi.h"

#include <dlfcn.h>
#include <papi.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>

#define ALL_LEVELS (PFM_PLM0 | PFM_PLM3) /* count both in kernel mode and in user mode */

static struct {
    bool shared; /* true if the program initialised PAPI before the tool did */
    int (*is_initialized)(void);
    int (*library_init)(int);
    void (*shutdown)(void);
    char *(*strerror)(int);
    int (*name_to_code)(const char *, int *);
    int (*code_to_name)(int, char *);
    int (*event_info)(int, PAPI_event_info_t *);
    int (*enum_preset)(int *, int);
} papi;

/* libpfm encodes the events of the processor and the kernel. It knows the kernel's events even on processors
 * that PAPI does not know. */
static struct {
    pfm_err_t (*initialize)(void);
    const char *(*strerror)(int);
    pfm_err_t (*encode)(const char *, int, pfm_os_t, void *);
    pfm_err_t (*pmu_info)(pfm_pmu_t, pfm_pmu_info_t *);
    pfm_err_t (*event_info)(int, pfm_os_t, pfm_event_info_t *);
    int (*next)(int);
} pfm;

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
    {"PAPI_enum_event", (void **)&papi.enum_preset},
    {"pfm_initialize", (void **)&pfm.initialize},
    {"pfm_strerror", (void **)&pfm.strerror},
    {"pfm_get_os_event_encoding", (void **)&pfm.encode},
    {"pfm_get_pmu_info", (void **)&pfm.pmu_info},
    {"pfm_get_event_info", (void **)&pfm.event_info},
    {"pfm_get_event_next", (void **)&pfm.next},
};

/* Loads the libraries. They stay loaded, because other threads may use data that the libraries have created. */
static bool papi_load(char *why, size_t bytes)
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
            snprintf(why, bytes, "libpapi and its libpfm have no function %s", symbols[i].name);
            return false;
        }
    }
    return library != NULL;
}

bool papi_open(char *why, size_t bytes)
{
    if (!papi_load(why, bytes))
        return false;
    papi.shared = papi.is_initialized() != PAPI_NOT_INITED;
    int code = papi.shared ? (int)PAPI_VER_CURRENT : papi.library_init(PAPI_VER_CURRENT);
    if (code == (int)PAPI_VER_CURRENT) {
        pfm.initialize(); /* PAPI does not initialise libpfm on a processor that it does not know */
        return true;
    }
    snprintf(why, bytes, "%s", code > 0 ? "another version of PAPI" : papi.strerror(code));
    return false;
}

void papi_close(void)
{
    if (!papi.shared)
        papi.shutdown();
}

/* Encodes a native event, whose name may include its component. */
static bool pfm_encode_native(const char *name, struct perf_event *event, char *why, size_t bytes)
{
    const char *behind = strstr(name, ":::");
    pfm_perf_encode_arg_t request = {.attr = (void *)event->attr, .size = sizeof(request)};
    memset(event, 0, sizeof(*event));
    int code = pfm.encode(behind ? behind + 3 : name, ALL_LEVELS, PFM_OS_PERF_EVENT_EXT, &request);
    if (code != PFM_SUCCESS)
        snprintf(why, bytes, "it is not an event of the processor or the kernel (%s)", pfm.strerror(code));
    return code == PFM_SUCCESS;
}

static bool papi_encode_preset(const PAPI_event_info_t *info, struct papi_event *event, char *why, size_t bytes)
{
    bool sum = strcmp(info->derived, "NOT_DERIVED") == 0 || strcmp(info->derived, "DERIVED_ADD") == 0;
    event->subtract = strcmp(info->derived, "DERIVED_SUB") == 0;
    if (info->count == 0) {
        snprintf(why, bytes, "this machine has no such counter");
        return false;
    }
    if ((!sum && !event->subtract) || info->count > PAPI_PARTS) {
        snprintf(why, bytes, "it is computed from several counters (%s)", info->derived);
        return false;
    }
    for (event->parts = 0; event->parts < info->count; event->parts++)
        if (!pfm_encode_native(info->name[event->parts], &event->part[event->parts], why, bytes))
            return false;
    return true;
}

bool papi_find(const char *name, struct papi_event *event, char *why, size_t bytes)
{
    static PAPI_event_info_t info; /* static, because the structure is large */
    int number;
    memset(event, 0, sizeof(*event));
    int code = papi.name_to_code(name, &number);
    if (code == PAPI_OK && (IS_PRESET(number) || IS_USER_DEFINED(number))) {
        memset(&info, 0, sizeof(info));
        if (papi.event_info(number, &info) != PAPI_OK)
            info.count = 0;
        return papi_encode_preset(&info, event, why, bytes);
    }
    event->parts = 1;
    if (pfm_encode_native(name, &event->part[0], why, bytes))
        return true;
    if (code != PAPI_OK)
        snprintf(why, bytes, "PAPI does not know it on this machine (%s)", papi.strerror(code));
    return false;
}

static void papi_offer_name(const char *name, const char *wanted, bool (*works)(const struct papi_event *event),
                            struct counter_nearest *nearest)
{
    char why[COUNTER_NAME_BYTES];
    struct papi_event event;
    if (strlen(name) < COUNTER_NAME_BYTES && counter_nearest_wants(nearest, wanted, name) &&
        papi_find(name, &event, why, sizeof(why)) && works(&event))
        counter_nearest_add(nearest, wanted, name);
}

static void pfm_offer_natives(const pfm_pmu_info_t *pmu, const char *wanted,
                              bool (*works)(const struct papi_event *event), struct counter_nearest *nearest)
{
    char name[COUNTER_NAME_BYTES];
    for (int i = pmu->first_event; i != -1; i = pfm.next(i)) {
        pfm_event_info_t info = {.size = sizeof(info)};
        if (pfm.event_info(i, PFM_OS_PERF_EVENT_EXT, &info) == PFM_SUCCESS &&
            snprintf(name, sizeof(name), "%s::%s", pmu->name, info.name) < (int)sizeof(name))
            papi_offer_name(name, wanted, works, nearest);
    }
}

void papi_find_nearest(const char *wanted, bool (*works)(const struct papi_event *event),
                       struct counter_nearest *nearest)
{
    char name[PAPI_MAX_STR_LEN + 1];
    nearest->count = 0;
    int number = PAPI_PRESET_MASK;
    for (int found = papi.enum_preset(&number, PAPI_ENUM_FIRST); found == PAPI_OK;
         found = papi.enum_preset(&number, PAPI_PRESET_ENUM_AVAIL))
        if (papi.code_to_name(number, name) == PAPI_OK)
            papi_offer_name(name, wanted, works, nearest);
    for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t pmu = {.size = sizeof(pmu)};
        if (pfm.pmu_info((pfm_pmu_t)i, &pmu) == PFM_SUCCESS && pmu.is_present)
            pfm_offer_natives(&pmu, wanted, works, nearest);
    }
}
