/* needs: tests/unit/fake_clock.c */
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "cct/arena.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/forbid.h"

#define RETRY_NS 100000000ull

static int open_arena(void **unused)
{
    (void)unused;
    unit_limit_files(RLIM_INFINITY); /* a test before may have failed half way */
    arena_abandon();
    return arena_open(unit_fresh_path(), 0666) ? 0 : -1;
}

static int close_arena(void **unused)
{
    (void)unused;
    unit_limit_files(RLIM_INFINITY);
    arena_abandon();
    unit_clean();
    return 0;
}

#define WITH_ARENA(name) UNIT_TEST_WITH(name, open_arena, close_arena)

static off_t file_size(void)
{
    struct stat st;
    return stat(unit_path, &st) == 0 ? st.st_size : -1;
}

static const struct profile_chunk *chunk_in_file(const char *bytes, uint32_t number)
{
    return (const struct profile_chunk *)(bytes + PROFILE_HEADER_BYTES + (size_t)number * PROFILE_CHUNK_BYTES);
}

static char *read_file(void)
{
    size_t bytes = (size_t)file_size();
    char *text = malloc(bytes);
    int fd = open(unit_path, O_RDONLY);
    assert_int_equal(read(fd, text, bytes), bytes);
    close(fd);
    return text;
}

WITH_ARENA(a_new_file_is_a_profile_at_once)
{
    char *text = read_file();
    const struct profile_header *header = (const struct profile_header *)text;
    assert_memory_equal(header->magic, PROFILE_MAGIC, 8);
    assert_int_equal(header->version, PROFILE_VERSION);
    assert_int_equal(header->byte_order, PROFILE_BYTE_ORDER);
    assert_int_equal(header->header_bytes, PROFILE_HEADER_BYTES);
    assert_int_equal(header->chunk_bytes, PROFILE_CHUNK_BYTES);
    assert_int_equal(header->unit_bytes, PROFILE_UNIT_BYTES);
    assert_int_equal(header->thread_bytes, PROFILE_THREAD_BYTES);
    assert_int_equal(header->module_bytes, PROFILE_MODULE_BYTES);
    assert_int_equal(header->chunk_count, 0);
    assert_int_equal(header->finished, 0);
    assert_int_equal(header->pid, getpid());
    assert_int_equal(file_size(), PROFILE_HEADER_BYTES);
    assert_true(arena_is_open());
    free(text);
}

/* The lowest descriptor that refers to the arena's file, as a program that closes all of them meets it. */
static int arena_descriptor(void)
{
    struct stat wanted, st;
    assert_int_equal(stat(unit_path, &wanted), 0);
    for (int fd = 3; fd < 1024; fd++)
        if (fstat(fd, &st) == 0 && st.st_ino == wanted.st_ino && st.st_dev == wanted.st_dev)
            return fd;
    fail_msg("the arena's file is not open");
    return -1;
}

WITH_ARENA(a_descriptor_that_became_the_programs_is_left_alone)
{
    char name[sizeof(unit_path) + 16];
    uint32_t number;
    struct stat st;
    snprintf(name, sizeof(name), "%s.program", unit_path);
    int fd = arena_descriptor(), file = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(file, "text", 4), 4);
    assert_int_equal(dup2(file, fd), fd);
    struct profile_chunk *chunk = arena_chunk(PROFILE_CHUNK_TREE, 7, &number);
    assert_non_null(chunk);
    assert_int_equal(chunk->owner, 7);
    assert_int_equal(file_size(), PROFILE_HEADER_BYTES + PROFILE_CHUNK_BYTES);
    int again = arena_descriptor();
    assert_int_equal(dup2(file, again), again);
    assert_int_equal(unlink(unit_path), 0);
    assert_null(arena_chunk(PROFILE_CHUNK_TREE, 7, &number)); /* the file cannot be found again */
    arena_finish();
    assert_int_equal(fstat(fd, &st), 0); /* not closed either */
    assert_int_equal(fstat(again, &st), 0);
    assert_int_equal(fstat(file, &st), 0);
    assert_int_equal(st.st_size, 4);
    close(again);
    close(fd);
    close(file);
    unlink(name);
}

WITH_ARENA(an_existing_file_is_not_overwritten)
{
    arena_abandon();
    errno = 0;
    assert_false(arena_open(unit_path, 0666));
    assert_int_equal(errno, EEXIST);
    assert_int_equal(file_size(), PROFILE_HEADER_BYTES);
    assert_false(arena_is_open());
    assert_null(arena_header());
}

WITH_ARENA(a_file_without_room_for_its_header_is_removed_and_says_why)
{
    arena_abandon();
    unlink(unit_path);
    unit_limit_files(PROFILE_HEADER_BYTES - 1);
    errno = 0;
    assert_false(arena_open(unit_path, 0666));
    int cause = errno;
    assert_int_equal(file_size(), -1);
    assert_int_not_equal(cause, 0); /* "false with errno set on failure": EFBIG */
}

WITH_ARENA(chunks_stand_where_their_number_says)
{
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t number = 99;
        struct profile_chunk *chunk = arena_chunk(PROFILE_CHUNK_TREE, 7 + i, &number);
        assert_non_null(chunk);
        assert_int_equal(number, i);
        assert_int_equal(chunk->kind, PROFILE_CHUNK_TREE);
        assert_int_equal(chunk->owner, 7 + i);
        assert_int_equal(chunk->used, 1); /* unit 0 is the header: index 0 is nobody's */
        assert_int_equal(chunk->metric_unit, PROFILE_UNITS_PER_CHUNK);
        assert_ptr_equal(arena_unit(number * PROFILE_UNITS_PER_CHUNK), chunk);
        assert_ptr_equal(arena_unit(number * PROFILE_UNITS_PER_CHUNK + 3), (char *)chunk + 3 * PROFILE_UNIT_BYTES);
        *(uint64_t *)arena_unit(number * PROFILE_UNITS_PER_CHUNK + PROFILE_UNITS_PER_CHUNK - 1) = i + 100;
    }
    assert_int_equal(arena_header()->chunk_count, 5);
    assert_int_equal(file_size(), PROFILE_HEADER_BYTES + 5 * PROFILE_CHUNK_BYTES);
    char *text = read_file(); /* written is in the file: what a killed process leaves */
    for (uint32_t i = 0; i < 5; i++) {
        const struct profile_chunk *chunk = chunk_in_file(text, i);
        assert_int_equal(chunk->owner, 7 + i);
        assert_int_equal(*(const uint64_t *)((const char *)chunk + PROFILE_CHUNK_BYTES - PROFILE_UNIT_BYTES), i + 100);
    }
    free(text);
}

WITH_ARENA(a_full_file_is_asked_again_only_after_the_pause)
{
    uint32_t number;
    fake_now_ns = 5000000000;
    unit_limit_files(PROFILE_HEADER_BYTES + 2 * PROFILE_CHUNK_BYTES);
    assert_non_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number));
    assert_non_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number));
    assert_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number));
    unit_limit_files(RLIM_INFINITY); /* room again, but nobody asks yet */
    fake_now_ns += RETRY_NS - 1;
    assert_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number));
    fake_now_ns += 1;
    assert_non_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number));
    assert_non_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number)); /* and no pause after a success */
    assert_int_equal(arena_header()->chunk_count, number + 1);
    char *text = read_file();
    for (uint32_t i = 0; i <= number; i++) {
        uint32_t kind = chunk_in_file(text, i)->kind;
        assert_true(kind == PROFILE_CHUNK_TREE || kind == PROFILE_CHUNK_FREE); /* a hole reads as free */
    }
    free(text);
}

WITH_ARENA(disk_space_is_reserved_some_chunks_at_a_time)
{
    uint32_t number, chunks = 320, growths = 0;
    for (uint32_t i = 0; i < chunks; i++) {
        off_t before = file_size(), needed = PROFILE_HEADER_BYTES + (off_t)(i + 1) * PROFILE_CHUNK_BYTES;
        assert_non_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number));
        growths += file_size() != before;
        assert_in_range(file_size(), needed, needed + needed / 8); /* and no more than that is left over */
    }
    assert_in_range(growths, 1, chunks / 8);
}

/* Runs in a process of its own. 0: no chunk's reservation reached beyond the chunk itself. */
static int take_chunks_without_fallocate(void)
{
    uint32_t number;
    forbid_call(SYS_fallocate, EOPNOTSUPP);
    for (off_t i = 1; i <= 20; i++)
        if (!arena_chunk(PROFILE_CHUNK_TREE, 1, &number) ||
            file_size() != PROFILE_HEADER_BYTES + i * PROFILE_CHUNK_BYTES)
            return 1;
    return 0;
}

/* Zeros written ahead would overwrite a chunk that another thread is using. */
WITH_ARENA(where_space_cannot_be_reserved_only_the_own_chunk_is_written)
{
    pid_t child = fork();
    if (child == 0)
        _exit(take_chunks_without_fallocate());
    unit_child_ends(child, 0);
}

/* "rr": the kernel reads nothing around a page that is touched (proc_pid_smaps(5)). */
WITH_ARENA(no_page_around_a_touched_one_is_read)
{
    char line[512];
    uint32_t number, found = 0, random = 0;
    bool ours = false;
    assert_non_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number));
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps)) {
        if (strchr(line, '-') && strchr(line, '/'))
            ours = strstr(line, unit_path) != NULL;
        if (!ours || strncmp(line, "VmFlags:", 8) != 0)
            continue;
        found++;
        random += strstr(line, " rr") != NULL;
    }
    fclose(maps);
    assert_in_range(found, 1, 2); /* the header's, and the chunk's extent */
    assert_int_equal(random, found);
}

/* Runs in a process of its own: unmounted with it. 0: as expected, UNIT_CANNOT: no mount here. */
static int fill_a_real_disk(void)
{
    char path[128];
    if (mount("none", unit_directory, "tmpfs", 0, "size=128k") != 0)
        return UNIT_CANNOT;
    snprintf(path, sizeof(path), "%s/full", unit_directory);
    arena_abandon();
    if (!arena_open(path, 0666))
        return 1;
    uint32_t number, chunks = 0;
    struct profile_chunk *chunk;
    while (chunks < 100 && (chunk = arena_chunk(PROFILE_CHUNK_TREE, 1, &number))) {
        memset((char *)chunk + PROFILE_UNIT_BYTES, 1, PROFILE_CHUNK_BYTES - PROFILE_UNIT_BYTES); /* no SIGBUS: A1 */
        chunks++;
    }
    int result = chunks == 3 ? 0 : 2; /* 4 KiB + 3 x 32 KiB fit into 128 KiB */
    arena_abandon();
    umount2(unit_directory, MNT_DETACH);
    return result;
}

WITH_ARENA(a_full_disk_is_a_null_and_never_a_sigbus)
{
    pid_t child = fork();
    if (child == 0)
        _exit(unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ? fill_a_real_disk()
                                                                                                    : UNIT_CANNOT);
    unit_child_ends(child, 0);
}

WITH_ARENA(records_are_numbered_over_chunks)
{
    const uint32_t room = PROFILE_CHUNK_BYTES / PROFILE_THREAD_BYTES - 1;
    struct profile_thread *first = NULL, *last = NULL;
    for (uint32_t i = 0; i < 2 * room + 1; i++) {
        uint32_t number, module_number;
        struct profile_thread *record = arena_record(PROFILE_CHUNK_THREAD, &number);
        assert_int_equal(number, i);
        assert_int_equal(record->kind, 0);
        record->tid = (int32_t)i;
        first = first ? first : record;
        last = record;
        if (i < 3) { /* modules are counted on their own */
            assert_non_null(arena_record(PROFILE_CHUNK_MODULE, &module_number));
            assert_int_equal(module_number, i);
        }
    }
    assert_int_equal(first->tid, 0); /* earlier ones stay where they are */
    assert_int_equal(last->tid, 2 * room);
    char *text = read_file();
    uint32_t records = 0;
    for (uint32_t i = 0; i < arena_header()->chunk_count; i++) {
        const struct profile_chunk *chunk = chunk_in_file(text, i);
        if (chunk->kind != PROFILE_CHUNK_THREAD)
            continue;
        for (uint32_t j = 0; j < chunk->used; j++, records++)
            assert_int_equal(((const struct profile_thread *)chunk)[j + 1].tid, records);
    }
    assert_int_equal(records, 2 * room + 1);
    free(text);
}

WITH_ARENA(no_room_for_a_record_is_null_and_counts_nothing)
{
    uint32_t number = 99;
    fake_now_ns += RETRY_NS;
    unit_limit_files(PROFILE_HEADER_BYTES);
    assert_null(arena_record(PROFILE_CHUNK_THREAD, &number));
    unit_limit_files(RLIM_INFINITY);
    fake_now_ns += RETRY_NS;
    assert_non_null(arena_record(PROFILE_CHUNK_THREAD, &number));
    assert_int_equal(number, 0);
}

WITH_ARENA(text_fills_chunks_to_the_last_byte)
{
    const size_t room = PROFILE_CHUNK_BYTES - PROFILE_UNIT_BYTES;
    char *value = malloc(room);
    memset(value, 'v', room);
    value[room - 3] = '\0'; /* "k\0" + value + "\0" is one byte too many with room - 2 */
    assert_true(arena_text("a", "b"));
    assert_true(arena_text("k", value)); /* exactly a chunk: needs one of its own */
    assert_int_equal(arena_header()->chunk_count, 2);
    value[room - 3] = 'v';
    value[room - 2] = '\0';
    assert_false(arena_text("k", value));
    assert_int_equal(arena_header()->chunk_count, 2);
    assert_true(arena_text("", ""));
    char *text = read_file();
    const struct profile_chunk *first = chunk_in_file(text, 0), *second = chunk_in_file(text, 1);
    assert_int_equal(first->kind, PROFILE_CHUNK_TEXT);
    assert_int_equal(first->used, 4);
    assert_memory_equal((const char *)first + PROFILE_UNIT_BYTES, "a\0b\0", 4);
    assert_int_equal(second->used, room);
    free(text);
    free(value);
}

WITH_ARENA(finish_marks_the_file_and_stops_growth)
{
    uint32_t number;
    struct profile_chunk *chunk = arena_chunk(PROFILE_CHUNK_TREE, 1, &number);
    arena_finish();
    assert_int_equal(arena_header()->finished, 1);
    assert_false(arena_is_open());
    assert_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number));
    chunk->owner = 2; /* a late sample may still touch it */
    assert_ptr_equal(arena_unit(0), chunk);
    arena_finish();
}

WITH_ARENA(abandoned_the_file_is_left_as_it_was)
{
    char other[128];
    uint32_t number;
    assert_non_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number));
    assert_true(arena_text("a", "b"));
    char *before = read_file();
    off_t bytes = file_size();
    arena_abandon();
    snprintf(other, sizeof(other), "%s/other", unit_directory);
    assert_true(arena_open(other, 0666));
    assert_true(arena_text("c", "d"));
    assert_non_null(arena_chunk(PROFILE_CHUNK_TREE, 1, &number));
    assert_int_equal(number, 1);
    assert_int_equal(arena_header()->chunk_count, 2);
    char *after = read_file();
    assert_int_equal(file_size(), bytes);
    assert_memory_equal(before, after, (size_t)bytes);
    free(before);
    free(after);
    unlink(other);
}

UNIT_MAIN(NULL, NULL)
