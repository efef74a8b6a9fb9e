/* Finds programs that touch much new memory: the kernel clears each page at its first use. */
#include "command/findings/rules.h"

/* Returns whether the profile counts page faults by context. */
static bool are_counted(const struct rows *rows)
{
    for (size_t i = 0; i < rows->counter_count; i++)
        if (counts_page_faults(rows->counter_name[i]))
            return true;
    return false;
}

void find_page_faults(struct inquiry *inquiry)
{
    const struct profile_header *header = &inquiry->profile->header;
    double seconds = 1e-9 * (double)header->kernel_ns, faults = (double)header->page_faults;
    struct finding finding = {
        .rule = "page-faults", .row = ROW_NONE, .rank = FINDING_TIME, .metric = METRIC_SAMPLES, .seconds = seconds};
    if ((double)header->kernel_ns > FAULT_NS * faults || !finding_is_enough(inquiry, seconds))
        return;
    finding.title = format_printable("%s s of processor time in the kernel, with %s page faults", DECIMAL(seconds, 2),
                                     DECIMAL(faults, 0));
    finding.evidence = format_printable("each takes %s us; the kernel clears a page of new memory at its first use",
                                        DECIMAL(1e6 * seconds / faults, 1));
    finding.advice = format_printable(
        "%s Keep memory and use it again, instead of freeing and allocating it (with malloc, the environment variables "
        "MALLOC_TRIM_THRESHOLD_ and MALLOC_MMAP_THRESHOLD_ help), let each thread be the first to touch the memory "
        "that "
        "it will use, or use huge pages.",
        are_counted(inquiry->rows) ? "The page faults of each context are in the top-down view."
                                   : "`blame run --counters page-faults` shows which code causes them.");
    struct relief relief = {.spent_s = seconds, .not_runtime = true};
    put_bounded_finding(inquiry, &finding, &relief);
}
