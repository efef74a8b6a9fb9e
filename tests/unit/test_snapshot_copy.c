#include "tests/unit/unit.h"

#include <fcntl.h>

#include "command/cli/snapshot_copy.h"

#define CHUNKS 3u

static struct profile_header header = {.chunk_count = CHUNKS};
static int from = -1, to = -1;

static off_t place_of(uint32_t chunk, size_t at)
{
    return (off_t)(PROFILE_HEADER_BYTES + chunk * PROFILE_CHUNK_BYTES + at);
}

/* The second chunk is the threads'. */
static void put_thread(int file, size_t number, struct profile_thread thread)
{
    off_t at = place_of(1, (number + 1) * PROFILE_THREAD_BYTES);
    assert_int_equal(pwrite(file, &thread, sizeof thread, at), sizeof thread);
}

static struct profile_thread thread_of(int file, size_t number)
{
    struct profile_thread thread;
    assert_true(snapshot_read(file, (char *)&thread, sizeof thread, place_of(1, (number + 1) * PROFILE_THREAD_BYTES)));
    return thread;
}

static int open_fresh(void)
{
    return open(unit_fresh_path(), O_RDWR | O_CREAT | O_TRUNC, 0600);
}

static void make(void)
{
    static const uint32_t kinds[CHUNKS] = {PROFILE_CHUNK_TREE, PROFILE_CHUNK_THREAD, PROFILE_CHUNK_TREE};
    from = open_fresh();
    to = open_fresh();
    assert_int_equal(ftruncate(from, place_of(CHUNKS, 0)), 0);
    for (uint32_t i = 0; i < CHUNKS; i++)
        assert_int_equal(
            pwrite(from, &(struct profile_chunk){.kind = kinds[i]}, sizeof(struct profile_chunk), place_of(i, 0)),
            sizeof(struct profile_chunk));
    for (int i = 0; i < 3; i++)
        put_thread(from, (size_t)i,
                   (struct profile_thread){
                       .kind = PROFILE_THREAD_WORKER, .tid = 100 + i, .begin_ns = 7, .delivered = 10, .recorded = 9});
}

static int end(void **unused)
{
    (void)unused;
    close(from);
    close(to);
    return 0;
}

UNIT_TEST_WITH(what_was_delivered_while_the_rest_was_copied_is_not_recorded_yet, NULL, end)
{
    make();
    assert_true(snapshot_copy(from, to, &header));
    put_thread(from, 0,
               (struct profile_thread){
                   .kind = PROFILE_THREAD_WORKER, .tid = 100, .begin_ns = 7, .delivered = 40, .recorded = 40});
    put_thread(
        from, 1,
        (struct profile_thread){
            .kind = PROFILE_THREAD_WORKER, .tid = 201, .begin_ns = 8, .delivered = 20}); /* another thread by now */
    put_thread(from, 3,
               (struct profile_thread){
                   .kind = PROFILE_THREAD_WORKER, .tid = 103, .begin_ns = 9, .delivered = 5}); /* a new one */
    assert_true(snapshot_note_later(from, to, &header));
    assert_int_equal(thread_of(to, 0).delivered, 40);
    assert_int_equal(thread_of(to, 0).recorded, 9);
    for (size_t i = 1; i < 3; i++)
        assert_int_equal(thread_of(to, i).delivered, 10);
    assert_int_equal(thread_of(to, 3).kind, PROFILE_THREAD_UNUSED);
}

UNIT_TEST_WITH(a_measurement_that_is_cut_short_is_none, NULL, end)
{
    make();
    assert_int_equal(ftruncate(from, place_of(CHUNKS, 0) - 1), 0);
    assert_false(snapshot_copy(from, to, &header));
}

UNIT_MAIN(NULL, NULL)
