#include "loader/traits.h"

#include "loader/text.h"

static const struct {
    const char *name;
    unsigned trait;
} table[] = {
    {"GOMP_teams_reg", TRAIT_TEAMS},
    {"GOMP_loop_start", TRAIT_SHARES},
    {"GOMP_loop_ull_start", TRAIT_SHARES},
    {"GOMP_loop_ordered_start", TRAIT_SHARES},
    {"GOMP_loop_ull_ordered_start", TRAIT_SHARES},
    {"GOMP_loop_doacross_start", TRAIT_SHARES},
    {"GOMP_loop_ull_doacross_start", TRAIT_SHARES},
    {"GOMP_sections2_start", TRAIT_SHARES},
    {"GOMP_workshare_task_reduction_unregister", TRAIT_REDUCES},
    {"GOMP_cancel", TRAIT_CANCELS},
    {"omp_set_nested", TRAIT_DEPRECATED},
    {"omp_set_nested_", TRAIT_DEPRECATED},
    {"omp_set_nested_8_", TRAIT_DEPRECATED},
    {"omp_get_nested", TRAIT_DEPRECATED},
    {"omp_get_nested_", TRAIT_DEPRECATED},
};

struct found {
    unsigned *traits;
};

/* As if the runtime had every name. */
static bool note(const void *found, const char *name)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (text_equal(table[i].name, name))
            *((const struct found *)found)->traits |= table[i].trait;
    return true;
}

unsigned traits_of(const struct elf_view *object)
{
    unsigned traits = 0;
    struct elf_lack none;
    elf_view_unmet(object, note, &(struct found){&traits}, &none);
    return traits;
}

const char *traits_differ(unsigned traits, bool cancels)
{
    if (traits & TRAIT_TEAMS)
        return " makes other teams and threads than libgomp (GOMP_teams_reg)";
    if (traits & TRAIT_SHARES && !(traits & TRAIT_REDUCES))
        return " has neither scan nor lastprivate(conditional:)";
    if (traits & TRAIT_CANCELS && cancels)
        return " may hang where a region is cancelled (GOMP_cancel, OMP_CANCELLATION)";
    return NULL;
}
