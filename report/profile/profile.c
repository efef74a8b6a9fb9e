#include "report/profile/profile.h"

#include <stdlib.h>
#include <string.h>

const char *const profile_drop_name[PROFILE_DROP_REASONS] = {
    [PROFILE_DROP_IN_TOOL] = "in tool",   [PROFILE_DROP_NO_MEMORY] = "no memory",
    [PROFILE_DROP_STOPPING] = "stopping", [PROFILE_DROP_NO_PATH] = "no path",
    [PROFILE_DROP_OVERLOAD] = "overload", [PROFILE_DROP_CUT_OFF] = "cut off",
    [PROFILE_DROP_PAUSED] = "paused",     [PROFILE_DROP_FAULT] = "fault in handler",
};

const struct profile_name *profile_name_of(const struct profile *profile, const struct merged_node *node)
{
    if (node->kind == PROFILE_NODE_INSTANCE)
        node = &profile->nodes[node->parent];
    bool named = node->kind >= PROFILE_NODE_PHASE && node->kind <= PROFILE_NODE_PARAMETER && node->key > 0 &&
                 node->key <= profile->name_count;
    return named ? &profile->names[node->key - 1] : NULL;
}

void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    free(profile->path);
    free(profile->nodes);
    free(profile->threads);
    free(profile->modules);
    free(profile->locks);
    free(profile->text);
    free(profile->names);
    free(profile->probes);
    free(profile->counters);
    free(profile->counter_text);
    free(profile);
}

const char *profile_text_next(const struct profile *profile, const char *key, const char *after)
{
    const char *at = after ? after + strlen(after) + 1 : profile->text;
    const char *end = profile->text + profile->text_bytes;
    /* read_text() keeps one zero byte behind the text, so strings end at `end` at the latest. */
    while (at < end) {
        const char *value = at + strlen(at) + 1;
        if (value > end)
            break;
        if (*at && strcmp(at, key) == 0)
            return value;
        at = value < end ? value + strlen(value) + 1 : end;
    }
    return NULL;
}

const char *profile_text(const struct profile *profile, const char *key)
{
    return profile_text_next(profile, key, NULL);
}
