/* The operating system behind one narrow file. Calls tagged [handler] are plain system calls: no cancellation
 * points, no locks, no allocation. They may set errno, which a handler saves. */
#ifndef BLAME_BASE_OS_H
#define BLAME_BASE_OS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/os_fds.h"

/* Makes the file's bytes exist on disk, so that a full disk is an error here and not a SIGBUS later.
 * Writes zeros where the file system cannot reserve space. [handler] */
bool os_reserve(int fd, uint64_t offset, size_t bytes);

/* Does the same for bytes that other threads may already use. It fails where it would have to write zeros.
 * [handler] */
bool os_reserve_shared(int fd, uint64_t offset, size_t bytes);

/* A write of ours must neither end the program nor reach its handlers. Between these two calls, SIGPIPE (a
 * closed pipe) and SIGXFSZ (a file limit) are blocked in the calling thread, and the ones that the write
 * raises are consumed. The write itself still fails. The thread cannot be cancelled in between, in the middle
 * of a callback. */
struct os_write_guard {
    int cancel_state;
    sigset_t mask;
    sigset_t mine; /* those of the two signals that were not pending before */
};
void os_guard_writes(struct os_write_guard *guard);         /* [any] */
void os_unguard_writes(const struct os_write_guard *guard); /* [any] */

int os_open_read(const char *path);                  /* [handler] */
int os_open_write(const char *path);                 /* opens an existing file to read and write [handler] */
ssize_t os_read(int fd, void *buffer, size_t bytes); /* [handler] */
ssize_t os_read_at(int fd, void *buffer, size_t bytes, uint64_t offset); /* [handler] */
/* Reads the start of a file with one call, and adds a zero byte. Returns the number of bytes, 0 if the file
 * cannot be read. [handler] */
size_t os_read_text(const char *path, char *text, size_t bytes);
/* Returns true if the process has locked memory (mlockall). A mapping may then be read completely at once,
 * and counts against the limit. [handler] */
bool os_memory_is_locked(void);
ssize_t os_write(int fd, const void *buffer, size_t bytes); /* [handler] */
void os_close(int fd);                                      /* [handler] */

bool os_file_id(int fd, uint64_t *device, uint64_t *inode); /* [handler] */

/* Writes the current absolute path of a descriptor's file. Returns false if it cannot be found. [handler] */
bool os_file_path(int fd, char *path, size_t bytes);
/* a fault returns false and raises no signal [handler] */
bool os_copy_memory(void *to, uintptr_t from, size_t bytes);

/* Copies a string page by page, because the next page may be unreadable. Returns its bytes with the final 0,
 * or `bytes` if it is longer; 0 if it cannot be read. [handler] */
size_t os_copy_text(char *to, size_t bytes, uintptr_t from);

#define OS_MAX_PARTS 4
struct os_part {
    void *to;
    uintptr_t from;
    size_t bytes;
};

/* Copies from several addresses, at most OS_MAX_PARTS, by one system call. Returns false unless all succeed.
 * [handler] */
bool os_copy_parts(const struct os_part *parts, size_t count);

/* Takes a lock that is rarely contended; 0 means free. Waiting threads sleep, because many threads on few
 * cores would spin for as long as the owner has no core. [owner] */
void os_lock(uint32_t *lock);
void os_unlock(uint32_t *lock); /* [owner] */

pid_t os_tid(void); /* [handler] */

/* Returns a word that is 0, and is 0 again in every copy of the process, however the copy is made. Returns
 * NULL if there is no memory or the kernel cannot do it (before Linux 4.14). Release it by os_unmap().
 * [handler] */
uint32_t *os_map_wiped(void);

/* Returns the process's number, as a rule without a system call. This also holds in a child made by clone()
 * or _Fork(), without fork(). A child that shares its parent's memory (vfork) gets the parent's number.
 * [handler] */
pid_t os_pid(void);

/* Returns true if no process has that number any more. [handler] */
bool os_is_dead(pid_t pid);

/* Returns the number of threads of this process; 0 if /proc does not show it. [any] */
uint32_t os_threads(void);

/* Reads how long a thread of this process has run, and how long it was ready without a core, in ns; 0 if the
 * kernel does not count it. [any] */
void os_run_times(pid_t tid, uint64_t *on_core_ns, uint64_t *no_core_ns);

/* Returns 1 + the only core on which a thread may run; 0 if there are several or it is unknown. [any] */
uint32_t os_only_core(pid_t tid);

/* Writes the cores on which the calling thread may run, as in "0-3,8". Returns false if unknown. [init] */
bool os_core_list(char *text, size_t bytes);

/* Starts a timer that signals the calling thread at first_ns (absolute, on CLOCK_MONOTONIC) and every
 * period_ns after it. For a CPU clock first_ns is ignored. Returns false if the system has no timer left.
 * [owner] */
bool os_timer_start(timer_t *timer, int signal, bool cpu_clock, uint64_t first_ns, uint64_t period_ns);
void os_timer_stop(timer_t timer); /* [owner] */

/* Returns true if a timer with that number exists, although it may belong to the program by now. errno is
 * EINVAL if there is none. [any] */
bool os_timer_is_there(timer_t timer);

/* Gives a running timer another period. [handler] */
bool os_timer_set(timer_t timer, bool cpu_clock, uint64_t first_ns, uint64_t period_ns);

/* Returns the number of cores on which this process may run: affinity, and the cgroup's quota rounded up.
 * [init] */
unsigned os_cores(void);

/* Returns the start of the process on CLOCK_MONOTONIC: the middle of the 10 ms that /proc gives. [init] */
uint64_t os_process_start_ns(void);
#define OS_PROCESS_START_UNSURE_NS 5000000u

/* Copies a file; `to` must not exist. Returns false with errno set on failure. [init] */
bool os_copy_file(const char *from, const char *to);

/* Copies a file over `to`, which is replaced once the copy is complete. [init] */
bool os_copy_over(const char *from, const char *to);

/* Returns true if the path is on a file system where shared mappings stall (NFS, Lustre, GPFS, FUSE, SMB).
 * [init] */
bool os_is_network_path(const char *path);

/* ---- memory ---- */

/* Returns zeroed private memory, page aligned; NULL if there is none. [handler] */
void *os_map(size_t bytes);

/* Makes the kernel map all pages of this memory now, if it can (Linux 5.14). One call replaces two faults per
 * page. [handler] */
void os_make_present(void *memory, size_t bytes);
void os_unmap(void *memory, size_t bytes); /* [handler] */

/* Returns a private read-only view of a file's bytes; NULL on failure. [handler] */
const void *os_map_file(int fd, uint64_t offset, size_t bytes);

size_t os_file_bytes(int fd);    /* 0: unknown [handler] */
bool os_memory_is_limited(void); /* true if ulimit -v is set [init] */

/* Returns a shared writable view. The bytes must exist (os_reserve) before they are touched. [handler] */
void *os_map_shared(int fd, uint64_t offset, size_t bytes);

/* ---- a thread of this process, as the kernel shows it ---- */

/* Returns a thread's state as in proc(5), such as 'R' for running or ready and 'Z' for ended; 0 if there is
 * no such thread. [any] */
char os_thread_state(pid_t tid);

#endif
