#include "tests/simulator/causes.h"

void causes_pass(struct awaited *awaited, bool alone, uint64_t ns)
{
    awaited->lost_ns = alone ? 0 : awaited->lost_ns + (awaited->no_core ? ns : 0);
}

/* Whether it waits because the other lacked a core, and until when that remains so. Without any such loss the other would have come
 * by its own loss earlier, and it would itself have waited from its own loss before this wait earlier on. */
static bool waits_for_core(const struct waiting *waiting, const struct awaited *awaited, uint64_t at_ns,
                           uint64_t *until_ns)
{
    int64_t behind_ns = (int64_t)(awaited->lost_ns - waiting->lost_ns);
    int64_t waited_ns = awaited->no_core ? 0 : (int64_t)(at_ns - waiting->since_ns);
    bool is = behind_ns > waited_ns;
    *until_ns = UINT64_MAX;
    if (awaited->no_core && !is)
        *until_ns = at_ns + (uint64_t)-behind_ns + 1;
    if (!awaited->no_core && is)
        *until_ns = at_ns + (uint64_t)(behind_ns - waited_ns);
    return is;
}

double causes_part_of_core(const struct awaited *awaited, const struct waiting *waiting, uint32_t count,
                           uint64_t begin_ns, uint64_t end_ns)
{
    double late_ns = 0;
    if (!awaited->no_core && !awaited->lost_ns)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t until_ns;
        bool is = waits_for_core(&waiting[i], awaited, begin_ns, &until_ns);
        until_ns = until_ns < end_ns ? until_ns : end_ns;
        late_ns += (double)(is ? until_ns - begin_ns : end_ns - until_ns);
    }
    return count ? late_ns / (double)(end_ns - begin_ns) / count : awaited->no_core;
}

uint64_t causes_end(const struct awaited *awaited, const struct waiting *waiting, uint32_t count, uint64_t begin_ns,
                    uint64_t end_ns)
{
    for (uint32_t i = 0; i < count && (awaited->no_core || awaited->lost_ns); i++) {
        uint64_t until_ns;
        waits_for_core(&waiting[i], awaited, begin_ns, &until_ns);
        end_ns = until_ns < end_ns ? until_ns : end_ns;
    }
    return end_ns;
}
