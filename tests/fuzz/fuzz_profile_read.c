/* needs: tests/fuzz/fake_symbols.c tests/fuzz/profile_builder.c */
/* fuzz_profile_read COUNT SEED [FILE...]: mutates measurement files COUNT times, reads each and runs what is
 * read through the row builder and, in turn, every view and every writer. To be built with AddressSanitizer
 * and UndefinedBehaviorSanitizer; without a FILE it makes its own. It fails by crashing, or when a refusal is
 * not one line that names the file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command/profile/read.h"
#include "command/profile/trace.h"
#include "command/files/csv.h"
#include "command/files/json.h"
#include "command/rows/filter.h"
#include "command/rows/make.h"
#include "command/rows/rows.h"
#include "command/symbols/symbols.h"
#include "command/tables/locks.h"
#include "command/tables/phases.h"
#include "command/views/arrange.h"
#include "command/export/export.h"
#include "command/views/sort.h"
#include "command/views/summary.h"
#include "command/views/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/profile_builder.h"

/* A position that matters: mostly in the headers and in the parts of chunks that are used. */
static size_t choose_position(const unsigned char *bytes, size_t size)
{
    uint64_t choice = next_random() % 16;
    size_t chunks = size > PROFILE_HEADER_BYTES ? (size - PROFILE_HEADER_BYTES) / PROFILE_CHUNK_BYTES : 0;
    if (choice == 0 || chunks == 0)
        return next_random() % (size < sizeof(struct profile_header) ? size : sizeof(struct profile_header));
    size_t at = PROFILE_HEADER_BYTES + next_random() % chunks * PROFILE_CHUNK_BYTES;
    if (choice == 1)
        return at + next_random() % PROFILE_UNIT_BYTES;
    uint32_t used = 0;
    memcpy(&used, bytes + at + 8, sizeof used);
    if (choice < 10)
        return at +
               next_random() % (used < PROFILE_UNITS_PER_CHUNK ? (used + 1) * PROFILE_UNIT_BYTES : PROFILE_CHUNK_BYTES);
    return at + next_random() % PROFILE_CHUNK_BYTES;
}

static size_t mutate(unsigned char *bytes, size_t size)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     4,
                                     5,
                                     6,
                                     7,
                                     255,
                                     1023,
                                     1024,
                                     1025,
                                     0x7fffffff,
                                     0xffffffff,
                                     0x7ff0000000000000,
                                     0x7fefffffffffffff,
                                     0xffffffffffffffff};
    for (uint64_t times = 1 + next_random() % 12; times; times--) {
        size_t at = choose_position(bytes, size), width = (size_t)1 << next_random() % 4;
        uint64_t value = next_random();
        switch (next_random() % 4) {
        case 0:
            bytes[at] ^= (unsigned char)(1u << value % 8);
            continue;
        case 1:
            value = edges[value % (sizeof edges / sizeof *edges)];
            break;
        case 2:
            value %= 5000;
            break;
        }
        at -= at % width;
        if (at + width <= size)
            memcpy(bytes + at, &value, width);
    }
    return next_random() % 50 == 0 ? next_random() % size : size;
}

static struct view_style choose_style(uint64_t round)
{
    return (struct view_style){.title = "fuzz",
                               .metric = (enum metric)(round / 8 % METRIC_NAMED),
                               .least_percent = (double)(round % 3),
                               .relative = round % 5 == 0,
                               .colour = round % 7 == 0,
                               .below = round % 4,
                               .columns = 40 + round % 100,
                               .utf8 = round % 2};
}

static void exercise_view(const struct profile *profile, struct rows *view, FILE *out, uint64_t round,
                          bool by_exclusive)
{
    struct view_style style = choose_style(round);
    style.by_exclusive = by_exclusive;
    view_text(out, profile, view, &style);
    if (round % 2)
        rows_limit_depth(view, 1 + round % 5);
    export_folded(out, view, style.metric);
}

/* Some rows hidden, some paths left. */
static void exercise_filter(const struct profile *profile, const struct rows *rows, FILE *out, uint64_t round)
{
    static const char *const expressions[] = {"1", "[2-5]", "x", "parallel"};
    regex_t focus, hide;
    if (regcomp(&focus, expressions[round / 8 % 4], REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    if (regcomp(&hide, expressions[round / 32 % 4], REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    struct rows_filter filter = {round % 3 ? &focus : NULL, &hide};
    struct rows *left = rows_filter(rows, &filter);
    struct rows *view = view_flat(left, (enum flat_by)(round / 8 % 4), METRIC_WORK);
    exercise_view(profile, view, out, round, true);
    exercise_view(profile, left, out, round, false);
    rows_free(view);
    rows_free(left);
    regfree(&focus);
    regfree(&hide);
}

static void exercise_waits(const struct profile *profile, const struct rows *rows, struct symbols *symbols, FILE *out,
                           uint64_t round)
{
    struct view_style style = choose_style(round);
    struct lock_table *table = lock_table_gather(profile, rows, symbols);
    struct wait_table *waits = wait_table_gather(profile, rows, table, symbols);
    write_waits_csv(out, rows, waits);
    struct view_cut left_out = view_sort_waits(waits, style.metric, style.least_percent);
    style.cut = &left_out;
    view_text_waits(out, profile, rows, waits, &style);
    wait_table_free(waits);
    lock_table_free(table);
}

static void exercise_locks(const struct profile *profile, const struct rows *rows, struct symbols *symbols, FILE *out,
                           uint64_t round)
{
    struct view_style style = choose_style(round);
    struct lock_table *table = lock_table_gather(profile, rows, symbols);
    write_locks_csv(out, table);
    style.most = round % 5;
    view_sort_locks(table, style.metric, style.least_percent);
    view_text_locks(out, profile, table, &style);
    lock_table_free(table);
}

static void exercise_phases(const struct profile *profile, const struct rows *rows, FILE *out, uint64_t round)
{
    struct view_style style = choose_style(round);
    struct phase_table *phases = phases_gather(profile, rows);
    write_phases_csv(out, rows, phases);
    view_text_phases(out, profile, rows, phases, 1 + round % 4, &style);
    phases_free(phases);
}

/* The rows are built in each round; what is printed of them takes turns. */
static void exercise_timeline(const struct profile *profile, const struct rows *rows, FILE *out, uint64_t round)
{
    struct view_style style = choose_style(round);
    struct culprits culprits = culprits_gather(profile, rows, round % 2);
    style.all = round % 4 == 0;
    if (profile->timeline.bins) {
        view_text_timeline(out, profile, rows, &style);
        view_text_culprits(out, profile, rows, &style);
    }
    write_timeline_csv(out, profile);
    write_culprits_csv(out, profile, rows, &culprits);
    culprits_free(&culprits);
}

static void exercise_trace(struct profile *profile)
{
    char error[1024];
    struct trace *trace = trace_read(profile, error, sizeof error);
    for (size_t i = 0; trace && i < trace->lane_count; i++)
        for (size_t j = 0; j < trace->lanes[i].span_count; j++)
            if (trace->lanes[i].spans[j].node >= profile->node_count ||
                trace->lanes[i].spans[j].end_ns < trace->lanes[i].spans[j].begin_ns)
                abort();
    trace_free(trace);
}

static void exercise(struct profile *profile, FILE *out, uint64_t round)
{
    struct symbols *symbols = symbols_open(profile->modules, profile->module_count);
    struct rows *rows = rows_build(profile, symbols), *view = NULL;
    struct lock_table *table = NULL;
    struct wait_table *waits = NULL;
    struct view_style style = choose_style(round);
    rewind(out);
    switch (round % 11) {
    case 0:
        write_profile_csv(out, rows, true);
        break;
    case 1:
        write_threads_csv(out, profile, NULL);
        view_text_threads(out, profile, &style);
        write_run_json(out, profile, &(struct report_tables){.rows = rows});
        break;
    case 2:
        exercise_locks(profile, rows, symbols, out, round);
        break;
    case 3:
        table = lock_table_gather(profile, rows, symbols);
        waits = wait_table_gather(profile, rows, table, symbols);
        report_print_summary(out, profile, &(struct report_tables){.rows = rows, .locks = table, .waits = waits},
                             "fuzz");
        break;
    case 4:
        view = view_bottom_up(rows, style.metric, 0, UINT32_MAX);
        exercise_view(profile, view, out, round, true);
        break;
    case 5:
        view = view_flat(rows, FLAT_FUNCTION, style.metric);
        exercise_view(profile, view, out, round, true);
        break;
    case 6:
        exercise_filter(profile, rows, out, round);
        rows_order(rows, style.metric, false);
        exercise_view(profile, rows, out, round, false);
        break;
    case 10:
        exercise_timeline(profile, rows, out, round);
        break;
    case 9:
        exercise_trace(profile);
        break;
    case 8:
        exercise_phases(profile, rows, out, round);
        break;
    case 7:
        exercise_waits(profile, rows, symbols, out, round);
        break;
    }
    rows_free(view);
    wait_table_free(waits);
    lock_table_free(table);
    rows_free(rows);
    symbols_close(symbols);
}

struct seed {
    unsigned char *bytes;
    size_t size;
};

static struct seed load_seed(const char *path)
{
    struct seed seed = {0};
    FILE *in = path ? fopen(path, "rb") : NULL;
    if (path && !in) {
        perror(path);
        exit(2);
    }
    if (!in) {
        struct profile_builder builder;
        builder_example(&builder, 2, 60, 1);
        builder_trace(&builder, 1, 300, 1);
        return (struct seed){builder.bytes, builder.size};
    }
    fseek(in, 0, SEEK_END);
    seed.size = (size_t)ftell(in);
    seed.bytes = malloc(seed.size + 1);
    rewind(in);
    if (seed.size == 0 || fread(seed.bytes, 1, seed.size, in) != seed.size)
        exit(2);
    fclose(in);
    return seed;
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000, readable = 0;
    int memory = memfd_create("fuzz", 0);
    char path[64], error[1024];
    FILE *out = fopen("/dev/null", "w");
    struct seed seeds[16];
    int seed_count = 0;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) * 2 + 1 : 1;
    for (int i = 3; i < argc && seed_count < 16; i++)
        seeds[seed_count++] = load_seed(argv[i]);
    if (!seed_count)
        seeds[seed_count++] = load_seed(NULL);
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    for (uint64_t round = 0; round < count; round++) {
        const struct seed *seed = &seeds[round % (uint64_t)seed_count];
        unsigned char *bytes = malloc(seed->size);
        memcpy(bytes, seed->bytes, seed->size);
        size_t size = round < (uint64_t)seed_count ? seed->size : mutate(bytes, seed->size);
        if (ftruncate(memory, (off_t)size) != 0 || pwrite(memory, bytes, size, 0) != (ssize_t)size)
            return 2;
        free(bytes);
        struct profile *profile = profile_read(path, error, sizeof error);
        if (!profile &&
            (strncmp(error, path, strlen(path)) != 0 || strchr(error, '\n') || round < (uint64_t)seed_count)) {
            fprintf(stderr, "round %llu: bad refusal: %s\n", (unsigned long long)round, error);
            return 1;
        }
        if (profile) {
            readable++;
            exercise(profile, out, round);
            profile_free(profile);
        }
    }
    printf("%llu mutated files: %llu read, %llu refused\n", (unsigned long long)count, (unsigned long long)readable,
           (unsigned long long)(count - readable));
    for (int i = 0; i < seed_count; i++)
        free(seeds[i].bytes);
    fclose(out);
    close(memory);
    return 0;
}
