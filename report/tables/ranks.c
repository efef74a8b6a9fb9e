#include "report/tables/ranks.h"

#include <stdio.h>
#include <string.h>

void rank_note(const struct profile *profile, char *text, size_t bytes)
{
    const char *rank = profile_text(profile, "rank"), *ranks = profile_text(profile, "ranks");
    const char *binding = profile_text(profile, "binding");
    text[0] = '\0';
    if (!rank)
        return;
    size_t used =
        (size_t)snprintf(text, bytes, ", rank %.12s%s%.12s", rank, ranks ? " of " : "", ranks ? ranks : "");
    if (binding && used < bytes)
        snprintf(text + used, bytes - used, ", bound to core%s %.48s", strpbrk(binding, "-,") ? "s" : "",
                 binding);
}
