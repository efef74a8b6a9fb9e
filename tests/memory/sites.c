/* Where the code orders memory: each call is a site, by its address, and can be made weaker for a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/memory/model.h"

#define SITES 4096u

static struct site {
    uintptr_t address;
    uint64_t passed;
    enum order order, weaker;
    char kind;
} sites[SITES];

bool model_traces;

static const struct {
    const char *name;
    enum order order;
} names[] = {
    {"relaxed", RELAXED}, {"acquire", ACQUIRE}, {"release", RELEASE}, {"acq_rel", ACQ_REL}, {"seq_cst", SEQ_CST}};

static const char *name_of(enum order order)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].order == order)
            return names[i].name;
    return "?";
}

static struct site *site_of(uintptr_t address)
{
    uint32_t place = (uint32_t)(address * 0x9e3779b97f4a7c15ull >> 52) % SITES;
    while (sites[place].address && sites[place].address != address)
        place = (place + 1) % SITES;
    return &sites[place];
}

enum order site_order(uintptr_t address, char kind, enum order order)
{
    struct site *site = site_of(address);
    if (!site->kind) {
        site->weaker = site->address ? site->weaker : order;
        site->address = address;
        site->kind = kind;
        site->order = order;
    }
    site->passed++;
    return site->weaker;
}

/* "ADDRESS,ADDRESS=relaxed" */
bool sites_weaken(const char *text)
{
    const char *is = strchr(text, '=');
    for (size_t i = 0; is && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(is + 1, names[i].name) != 0)
            continue;
        for (char *end = (char *)text; end < is; end++) {
            uintptr_t address = strtoul(end, &end, 16);
            struct site *site = site_of(address);
            site->address = address;
            site->weaker = names[i].order;
        }
        return true;
    }
    return false;
}

void sites_print(void)
{
    for (uint32_t i = 0; i < SITES; i++)
        if (sites[i].kind && sites[i].order != RELAXED)
            printf("site %lx %c %s %llu\n", (unsigned long)sites[i].address, sites[i].kind, name_of(sites[i].order),
                   (unsigned long long)sites[i].passed);
}

void trace(uintptr_t site, const char *what, uintptr_t address, uint64_t value)
{
    fprintf(stderr, "%6llu  thread %u  %-9s %lx  %llx  at %lx\n", (unsigned long long)model_steps, model_thread, what,
            (unsigned long)address, (unsigned long long)value, (unsigned long)site);
}
