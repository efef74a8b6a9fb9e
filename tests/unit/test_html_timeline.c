/* needs: tests/fuzz/fake_symbols.c */
#include "tests/unit/html_page.h"

#define LANES      512
#define CONTEXTS   1000
#define BINS       112
#define MOST_BYTES 8000000

static struct timeline *const timeline = &made.profile.timeline;

static void make_timeline(uint32_t lanes, uint32_t bins, uint64_t bin_ns, size_t cells)
{
    *timeline = (struct timeline){.bin_ns = bin_ns,
                                  .lane_bin_ns = bin_ns >> PROFILE_TIME_FINER,
                                  .bins = bins,
                                  .lane_bins = bins << PROFILE_TIME_FINER,
                                  .lanes = calloc(lanes, sizeof *timeline->lanes),
                                  .lane_count = lanes,
                                  .cells = calloc(cells, sizeof *timeline->cells)};
    for (uint32_t i = 0; i < lanes; i++)
        timeline->lanes[i] = (struct timeline_lane){.tree = i + 1,
                                                    .thread = i,
                                                    .threads = 1,
                                                    .cell_lane = i,
                                                    .ns = calloc(timeline->lane_bins, sizeof *timeline->lanes[i].ns)};
    made.profile.header.end_ns = bins * bin_ns;
}

static void add_cell(uint32_t node, uint32_t lane, uint32_t bin, struct profile_time_value value)
{
    timeline->cells[timeline->cell_count++] = (struct timeline_cell){node, lane, bin, value};
}

static int forget_timeline(void **state)
{
    timeline_free(timeline);
    return forget_page(state);
}

/* Of what was written as base64. */
static uint8_t *bytes_of(const char *path, size_t *many)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = json_string_value(at(page.data, path));
    assert_non_null(text);
    size_t length = strlen(text);
    assert_int_equal(length % 4, 0);
    uint8_t *bytes = calloc(length, 1);
    uint32_t bits = 0;
    *many = 0;
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        bits = bits << 6 | (uint32_t)(strchr(digit, text[i]) - digit);
        if (i % 4)
            bytes[(*many)++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return bytes;
}

static float float_at(const char *path, size_t i)
{
    size_t many;
    uint8_t *bytes = bytes_of(path, &many);
    float value;
    assert_true(4 * (i + 1) <= many);
    memcpy(&value, bytes + 4 * i, sizeof value);
    free(bytes);
    return value;
}

#define WITH_TIMELINE(name) UNIT_TEST_WITH(name, made_start, forget_timeline)

WITH_TIMELINE(a_profile_without_a_timeline_has_none)
{
    make_page((struct html_options){.no_source = true});
    assert_true(json_is_null(at(page.data, "timeline")));
}

/* Two threads, two bins of a second: the second's last half is behind the end. */
WITH_TIMELINE(bins_of_lanes_are_shares_and_those_of_contexts_their_time)
{
    size_t many;
    uint32_t caller = made_work(0, 10, 1), callee = made_work(caller, 20, 1);
    make_timeline(2, 2, 1000000000, 4);
    made.profile.header.end_ns = 1500000000;
    for (uint32_t bin = 0; bin < 4; bin++)
        timeline->lanes[0].ns[bin][PROFILE_TIME_WORK] = 0.25 * S;
    timeline->lanes[1].ns[5][PROFILE_TIME_IDLE] = 0.125 * S;
    add_cell(caller, 0, 0, (struct profile_time_value){.own = 0.25f * S, .inverse_busy = 0.25f * S});
    add_cell(callee, 0, 0, (struct profile_time_value){.own = 0.5f * S, .inverse_busy = 0.5f * S});
    add_cell(callee, 0, 1,
             (struct profile_time_value){.own = 0.125f * S, .inverse_busy = 0.125f * S, .lock_wait = 0.125f * S});
    make_page((struct html_options){.no_source = true});
    assert_int_equal(number("timeline/bin_us"), 1000000);
    assert_int_equal(number("timeline/lanes/thread/1"), 1);
    assert_int_equal(number("timeline/lanes/rank/0"), -1);
    assert_int_equal(count("timeline/states"), 2);
    assert_string_equal(text("timeline/states/1/key"), "idleness");
    assert_int_equal(number("timeline/states/0/us/3"), 250000);
    uint8_t *shares = bytes_of("timeline/states/0/shares", &many);
    assert_int_equal(many, 16);
    assert_int_equal(shares[0], 255);
    assert_int_equal(shares[4], 0);
    free(shares);
    shares = bytes_of("timeline/states/1/shares", &many);
    assert_int_equal(shares[8 + 5], 128); /* the half of a quarter of a second */
    free(shares);
    assert_int_equal(count("timeline/contexts/row"), 3); /* the root's, the callee's line, its caller's */
    assert_int_equal(number("timeline/contexts/end/0"), 0);
    assert_int_equal(number("timeline/contexts/end/1"), 2);
    assert_int_equal(number("timeline/contexts/end/2"), 1);
    assert_true(float_at("timeline/contexts/own", 0) == 500000);
    assert_true(float_at("timeline/contexts/idleness", 2) == 250000); /* one of two threads idled */
    assert_true(float_at("timeline/contexts/lock wait", 1) == 125000);
    made.profile.header.rate = 6; /* a bin of lanes is as wide as four samples and more */
    json_decref(page.data);
    make_page((struct html_options){.no_source = true});
    assert_int_equal(number("timeline/lane_bin_us"), 1000000);
    assert_int_equal(number("timeline/lane_bins"), 2);
    assert_int_equal(number("timeline/states/0/us/0"), 1000000);
    uint8_t *tops = bytes_of("timeline/tops", &many); /* 2 in the first bin, 1 in the second, none */
    assert_int_equal(many, 4 + 3 * 3);
    assert_int_equal(tops[0], 2);
    assert_int_equal(tops[1], 1);
    assert_int_equal(tops[3], 128);
    assert_int_equal(tops[10], 64); /* of half a second */
    free(tops);
}

/* A job whose last lane has what is left of its ranks. */
WITH_TIMELINE(lanes_of_several_ranks_say_which)
{
    struct profile_rank ranks[5] = {{.rank = 0}, {.rank = 1}, {.rank = 2}, {.rank = 3}, {.rank = 4}};
    made.profile.header.merged = made.profile.header.ranks = 5;
    made.profile.ranks = ranks;
    made.profile.rank_count = 5;
    make_timeline(2, 1, 1000000000, 1);
    timeline->level = TIMELINE_RANKS + 1;
    timeline->lanes[0].rank_record = 1;
    timeline->lanes[1] = (struct timeline_lane){.threads = 6, .rank_record = 3, .ns = timeline->lanes[1].ns};
    make_page((struct html_options){.no_source = true});
    assert_int_equal(number("timeline/lanes/rank/0"), 0);
    assert_int_equal(number("timeline/lanes/last_rank/0"), 1);
    assert_int_equal(number("timeline/lanes/rank/1"), 2);
    assert_int_equal(number("timeline/lanes/last_rank/1"), 4);
    assert_int_equal(number("timeline/lanes/thread/1"), -1);
    assert_int_equal(number("timeline/lanes/threads/1"), 6);
    assert_int_equal(number("timeline/lanes/cells/1"), 0);
}

WITH_TIMELINE(lanes_of_a_ranks_second_process_say_so)
{
    struct profile_rank ranks[2] = {{.rank = 3}, {.rank = 3, .process = 1}};
    made.profile.header.merged = made.profile.header.ranks = 2;
    made.profile.ranks = ranks;
    made.profile.rank_count = 2;
    make_timeline(2, 1, 1000000000, 1);
    for (uint32_t i = 0; i < 2; i++)
        timeline->lanes[i].rank_record = 1 + i;
    make_page((struct html_options){.no_source = true});
    for (int i = 0; i < 2; i++) {
        assert_int_equal(number(i ? "timeline/lanes/rank/1" : "timeline/lanes/rank/0"), 3);
        assert_int_equal(number(i ? "timeline/lanes/process/1" : "timeline/lanes/process/0"), i);
    }
}

/* Noise in all states and everywhere, which is what takes most room. BLAME_TEST_PAGE: where `make html-bench` has it. */
WITH_TIMELINE(an_hour_of_512_threads_fits_into_eight_megabytes)
{
    uint64_t random = 88172645463325252ull;
    for (uint32_t i = 0; i < CONTEXTS; i++)
        made_work(i % 20 ? (uint32_t)made.profile.node_count - 1 : 0, 16 + 16 * i, 1800);
    made.profile.header.threads_max = LANES;
    make_timeline(LANES, BINS, UINT64_C(1) << 35, (size_t)LANES * BINS * 8);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        for (uint32_t bin = 0; bin < timeline->lane_bins; bin++)
            for (int of = 0; of < PROFILE_TIME_STATES; of++)
                timeline->lanes[lane].ns[bin][of] =
                    (double)timeline->lane_bin_ns * (double)(unit_random(&random) % 1000) / 8000;
        for (uint32_t i = 0; i < BINS * 8; i++) {
            float own = (float)timeline->bin_ns * (float)(unit_random(&random) % 1000) / 8000;
            add_cell(1 + (uint32_t)(unit_random(&random) % CONTEXTS), lane, i / 8,
                     (struct profile_time_value){.own = own, .inverse_busy = own / 400, .lock_wait = own / 10});
        }
    }
    make_page((struct html_options){.no_source = true});
    print_message("%zu bytes\n", made_text_bytes);
    assert_true(made_text_bytes < MOST_BYTES);
    assert_true(count("timeline/contexts/row") > CONTEXTS * 9 / 10); /* some lines share a row */
    const char *path = getenv("BLAME_TEST_PAGE");
    FILE *kept = path ? fopen(path, "w") : NULL;
    if (kept) {
        assert_int_equal(fwrite(made_text, 1, made_text_bytes, kept), made_text_bytes);
        assert_int_equal(fclose(kept), 0);
    }
}

UNIT_MAIN(NULL, NULL)
