/* The operating system, behind one narrow file. Calls tagged [handler] are plain system calls: no
 * cancellation points, no locks, no allocation. They may set errno; a handler saves it. */
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

/* The same for bytes some of which other threads may be using: fails where it would have to write zeros. [handler] */
bool os_reserve_shared(int fd, uint64_t offset, size_t bytes);

/* A write of ours must not end the program, nor reach its handlers: between these two calls the SIGPIPE of a closed
 * pipe and the SIGXFSZ of a file limit are blocked in the calling thread, to which the kernel sends them, and those that
 * were caused are swallowed. The write fails all the same. Nor is the thread cancelled there, in the middle of a callback. */
struct os_write_guard {
    int cancel_state;
    sigset_t mask;
    sigset_t mine; /* of the two, those that were not pending before */
};
void os_guard_writes(struct os_write_guard *guard);         /* [any] */
void os_unguard_writes(const struct os_write_guard *guard); /* [any] */

int os_open_read(const char *path);                  /* [handler] */
int os_open_write(const char *path);                 /* a file that exists, to read and write [handler] */
ssize_t os_read(int fd, void *buffer, size_t bytes); /* [handler] */
ssize_t os_read_at(int fd, void *buffer, size_t bytes, uint64_t offset); /* [handler] */
/* What can be read of a file at once, with a zero byte behind it; its bytes, 0 when it cannot be read. [handler] */
size_t os_read_text(const char *path, char *text, size_t bytes);
/* Whether the process has locked memory (mlockall): a mapping may then be read whole at once, and count against its limit. [handler] */
bool os_memory_is_locked(void);
ssize_t os_write(int fd, const void *buffer, size_t bytes); /* [handler] */
void os_close(int fd);                                      /* [handler] */

bool os_file_id(int fd, uint64_t *device, uint64_t *inode); /* [handler] */

/* The absolute path that a descriptor's file has now; false when it cannot be had. [handler] */
bool os_file_path(int fd, char *path, size_t bytes);
bool os_copy_memory(void *to, uintptr_t from, size_t bytes); /* faults are a false, not a signal [handler] */

/* A string, page by page, as it ends before the next one or goes on there: its bytes with the 0, or all if it is longer;
 * 0 when it cannot be read. [handler] */
size_t os_copy_text(char *to, size_t bytes, uintptr_t from);

#define OS_MAX_PARTS 4
struct os_part {
    void *to;
    uintptr_t from;
    size_t bytes;
};

/* The same for several places, at most OS_MAX_PARTS, with one system call: all of them, or a false. [handler] */
bool os_copy_parts(const struct os_part *parts, size_t count);

/* A lock that is rarely contended, 0 when free. Who waits sleeps: many threads on few cores that want it at once
 * would spin for as long as its owner has no core. [owner] */
void os_lock(uint32_t *lock);
void os_unlock(uint32_t *lock); /* [owner] */

pid_t os_tid(void); /* [handler] */

/* A word that is 0, and again in each copy of the process, however that is made; NULL: there is no memory, or the system wipes none (before Linux
 * 4.14). To be given back by os_unmap(). [handler] */
uint32_t *os_map_wiped(void);

/* The process's number, as a rule without a system call: also of a child that was made past fork(), by clone() or _Fork(). In one that
 * shares its parent's memory (vfork) it is the parent's. [handler] */
pid_t os_pid(void);

/* Whether no process has that number (any more). [handler] */
bool os_is_dead(pid_t pid);

/* How many threads this process has; 0 where /proc does not tell. [any] */
uint32_t os_threads(void);

/* How long a thread of this process ran, and was ready to run without a core, since it began; 0 where the
 * kernel does not count it. [any] */
void os_run_times(pid_t tid, uint64_t *on_core_ns, uint64_t *no_core_ns);

/* 1 + the core that a thread may run on, if it is one alone; else, and where that is not known, 0. [any] */
uint32_t os_only_core(pid_t tid);

/* The cores that the calling thread may run on, as "0-3,8"; false where that is not known. [init] */
bool os_core_list(char *text, size_t bytes);

/* A timer that signals the calling thread every period_ns from first_ns (absolute, on CLOCK_MONOTONIC) on;
 * for a CPU clock, first_ns is ignored. Returns false when the system has no timer left. [owner] */
bool os_timer_start(timer_t *timer, int signal, bool cpu_clock, uint64_t first_ns, uint64_t period_ns);
void os_timer_stop(timer_t timer); /* [owner] */

/* Whether there is a timer of that number, which may be another's by now; errno is EINVAL if there is none. [any] */
bool os_timer_is_there(timer_t timer);

/* Gives a running timer another period. [handler] */
bool os_timer_set(timer_t timer, bool cpu_clock, uint64_t first_ns, uint64_t period_ns);

/* Cores that this process may run on: affinity, and the cgroup's quota rounded up. [init] */
unsigned os_cores(void);

/* CLOCK_MONOTONIC time when the process started: the middle of the 10 ms to which /proc knows it. [init] */
uint64_t os_process_start_ns(void);
#define OS_PROCESS_START_UNSURE_NS 5000000u

/* Copies a file; `to` must not exist. False with errno set on failure. [init] */
bool os_copy_file(const char *from, const char *to);

/* The same in the place of `to`, which is replaced when all is there. [init] */
bool os_copy_over(const char *from, const char *to);

/* True when path lies on a file system where shared mappings stall (NFS, Lustre, GPFS, FUSE, SMB). [init] */
bool os_is_network_path(const char *path);

/* ---- memory ---- */

/* Zeroed private memory, page aligned; NULL when there is none. [handler] */
void *os_map(size_t bytes);

/* Has the kernel map all pages of this memory now, where it can (Linux 5.14): one call in place of two faults a page. [handler] */
void os_make_present(void *memory, size_t bytes);
void os_unmap(void *memory, size_t bytes); /* [handler] */

/* A private read-only view of a file's bytes, NULL on failure. [handler] */
const void *os_map_file(int fd, uint64_t offset, size_t bytes);

size_t os_file_bytes(int fd);    /* 0: not known. [handler] */
bool os_memory_is_limited(void); /* By ulimit -v. [init] */

/* A shared writable view; the bytes must exist (os_reserve) before they are touched. [handler] */
void *os_map_shared(int fd, uint64_t offset, size_t bytes);

/* ---- a thread of this process, as the kernel shows it ---- */

/* 'R': it has a core or wants one, 'Z': it has ended, and so on as in proc(5); 0: there is none. [any] */
char os_thread_state(pid_t tid);

#endif
