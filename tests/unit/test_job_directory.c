#include "tests/unit/unit.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/job_directory.h"

#define PROCESSES 24

static char folder[] = "/tmp/blame-test-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static const char *joined(const char *wanted, const char *identity)
{
    static char path[PATH_MAX];
    assert_true(job_directory_join(wanted, identity, 0777, path, sizeof path));
    return path;
}

UNIT_TEST_WITH(a_job_has_one_directory_and_another_job_another, make_folder, remove_folder)
{
    char identity[JOB_IDENTITY_BYTES];
    assert_string_equal(joined("a", "one"), "a");
    assert_string_equal(joined("a", "two"), "a.1");
    assert_string_equal(joined("a", "one"), "a");
    assert_string_equal(joined("a", "two"), "a.1");
    assert_true(job_directory_identity("a.1", identity));
    assert_string_equal(identity, "two");
    assert_false(job_directory_identity("b", identity));
}

UNIT_TEST_WITH(what_is_no_jobs_is_never_taken, make_folder, remove_folder)
{
    assert_int_equal(mkdir("a", 0777), 0);
    assert_int_equal(mkdir("a.1", 0777), 0);
    assert_int_equal(symlink("nowhere", "a.2"), 0);
    assert_string_equal(joined("a", "one"), "a.3");
    assert_int_equal(rmdir("a"), 0);
    assert_int_equal(rmdir("a.1"), 0);
}

UNIT_TEST_WITH(who_leaves_last_takes_the_directory_along, make_folder, remove_folder)
{
    assert_string_equal(joined("a", "one"), "a");
    fclose(fopen("a/rank-000000.blame", "w"));
    job_directory_leave("a");
    assert_int_equal(access("a/" JOB_MARK, F_OK), 0);
    unlink("a/rank-000000.blame");
    job_directory_leave("a");
    assert_int_equal(access("a", F_OK), -1);
    assert_int_equal(mkdir("mine", 0777), 0);
    job_directory_leave("mine");
    assert_int_equal(access("mine", F_OK), 0);
}

UNIT_TEST_WITH(what_cannot_be_made_is_told, make_folder, remove_folder)
{
    char path[PATH_MAX], small[4];
    errno = 0;
    assert_false(job_directory_join("no/folder", "one", 0777, path, sizeof path));
    assert_int_equal(errno, ENOENT);
    assert_false(job_directory_join("/proc/self/a", "one", 0777, path, sizeof path));
    assert_int_equal(mkdir("abc", 0777), 0);
    assert_false(job_directory_join("abc", "one", 0777, small, sizeof small));
    assert_int_equal(errno, ENAMETOOLONG);
}

static void come_and_go(int number)
{
    char path[PATH_MAX], file[PATH_MAX + 16];
    for (int i = 0; i < 20; i++) {
        if (!job_directory_join("a", number % 2 ? "odd" : "even", 0777, path, sizeof path))
            _exit(1);
        snprintf(file, sizeof file, "%s/file-%d", path, number);
        FILE *made = fopen(file, "wx");
        if (!made && errno == ENOENT)
            continue; /* the last one has taken it along: who has a file to write asks again */
        if (!made)
            _exit(2);
        fclose(made);
        bool ours = job_directory_is(path, number % 2 ? "odd" : "even");
        char identity[JOB_IDENTITY_BYTES];
        for (int look = 0; ours && look < 10; look++)
            if (job_directory_identity(path, identity) && strcmp(identity, number % 2 ? "odd" : "even") != 0)
                _exit(3);
        unlink(file);
        if (i % 3)
            job_directory_leave(path);
    }
    _exit(0);
}

/* Whatever the order of their steps: no process is ever in the directory of the other job. */
UNIT_TEST_WITH(processes_of_two_jobs_come_and_go_and_never_meet, make_folder, remove_folder)
{
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0)
            come_and_go(i);
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        wait(&status);
        assert_int_equal(status, 0);
    }
}

/* A process that leaves and has no core in the middle of it; then it goes on as `how` says. */
static pid_t leave_slowly(const char *how)
{
    assert_int_equal(rename("a/" JOB_MARK, "a" JOB_LEAVING), 0);
    pid_t pid = fork();
    if (pid == 0) {
        usleep(200000); /* ten times as long as who looks waits for a directory without a mark */
        _exit(system(how));
    }
    return pid;
}

UNIT_TEST_WITH(who_leaves_without_a_core_does_not_split_a_job, make_folder, remove_folder)
{
    static const char *const ways[] = {"rmdir a && sleep 0.05 && rm a" JOB_LEAVING, "mv a" JOB_LEAVING " a/" JOB_MARK};
    for (int i = 0; i < 2; i++) {
        int status;
        assert_string_equal(joined("a", "one"), "a");
        pid_t pid = leave_slowly(ways[i]);
        assert_string_equal(joined("a", "one"), "a");
        assert_true(job_directory_is("a", "one"));
        waitpid(pid, &status, 0);
        assert_int_equal(status, 0);
    }
    job_directory_leave("a");
    assert_int_equal(rmdir("a"), -1);
    assert_int_equal(access("a" JOB_LEAVING, F_OK), -1);
}

static void come(int number)
{
    char path[PATH_MAX], file[PATH_MAX + 16];
    if (!job_directory_join("a", "one", 0777, path, sizeof path) || strcmp(path, "a") != 0)
        _exit(1);
    snprintf(file, sizeof file, "%s/file-%d", path, number);
    fclose(fopen(file, "wx"));
    _exit(0);
}

UNIT_TEST_WITH(processes_that_begin_at_once_have_one_directory, make_folder, remove_folder)
{
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0)
            come(i);
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        wait(&status);
        assert_int_equal(status, 0);
    }
    assert_int_equal(access("a.1", F_OK), -1);
    assert_int_equal(system("test $(ls | wc -l) = 1 && test $(ls a | wc -l) = 24"), 0);
}

UNIT_MAIN(NULL, NULL)
