#include "command/tables/other_runtimes.h"

#include <stdlib.h>
#include <string.h>

#include "cct/profile_tree.h"
#include "command/text/format.h"
#include "command/text/memory.h"

static bool other_runtimes_module_is_one(const struct profile_module *module)
{
    static const char *const names[] = {"libgomp", "libomp", "libiomp5"};
    const char *name = format_base_name(module->path);
    if (module->flags & PROFILE_MODULE_RUNTIME)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 && (name[length] == '.' || name[length] == '-'))
            return true;
    }
    return false;
}

/* Returns the seconds sampled in a module and its callees. Callers have smaller indices than their callees.
 * WAITERS nodes are left out, because their sums have other meanings. */
static double other_runtimes_seconds_below(const struct profile *profile, uint32_t module_id, bool *below)
{
    double sum = 0;
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct merged_node *node = &profile->nodes[i];
        bool frame = node->kind == PROFILE_NODE_FRAME || node->kind == PROFILE_NODE_RUNTIME;
        below[i] = (node->parent < i && below[node->parent]) || (frame && PROFILE_KEY_MODULE(node->key) == module_id);
        if (below[i] && node->kind != PROFILE_NODE_WAITERS)
            sum += node->metric.work + node->metric.overhead + node->metric.lock_wait_here;
    }
    return sum * 1e-9;
}

/* Adds the OpenMP runtime that is linked into the program, with the time before the tool's start. What this
 * runtime does later cannot be distinguished from the program's own code. */
static size_t other_runtimes_add_static(const struct profile *profile, struct other_runtime *found)
{
    if (!profile_text(profile, "static_runtime"))
        return 0;
    uint32_t program = profile_program(profile);
    const char *path = program ? profile->modules[program - 1].path : profile_text(profile, "program");
    *found = (struct other_runtime){path, 1e-9 * (double)profile->header.before_start_ns};
    return 1;
}

size_t other_runtimes(const struct profile *profile, struct other_runtime *found)
{
    size_t count = other_runtimes_add_static(profile, found);
    bool *below = memory_array(profile->node_count, sizeof *below);
    for (size_t i = 0; i < profile->module_count && count < OTHER_RUNTIMES_MOST; i++) {
        double seconds = other_runtimes_module_is_one(&profile->modules[i])
                             ? other_runtimes_seconds_below(profile, (uint32_t)(i + 1), below)
                             : 0;
        if (seconds > 0)
            found[count++] = (struct other_runtime){profile->modules[i].path, seconds};
    }
    free(below);
    return count;
}
