/* Calls to the operating system. Those tagged [handler] are plain system calls: they are not cancellation
 * points, take no locks and allocate no memory. They may change errno, which a handler saves. */
#ifndef BLAME_BASE_OS_H
#define BLAME_BASE_OS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/os_fds.h"

/* Allocates disk space for these bytes of the file. A full disk then causes an error here, and no SIGBUS
 * later. Writes zeros if the file system cannot allocate space. [handler] */
bool os_reserve(int fd, uint64_t offset, size_t bytes);

/* Like os_reserve(), for bytes that other threads may already be using. Fails where os_reserve() would write
 * zeros. [handler] */
bool os_reserve_shared(int fd, uint64_t offset, size_t bytes);

/* Protects the program from a write of ours, which must neither end the program nor call its signal handlers.
 * Between os_guard_writes() and os_unguard_writes(), SIGPIPE (a closed pipe) and SIGXFSZ (a limit on file
 * sizes) are blocked in the calling thread. If the write raises one of them, the signal is discarded, and the
 * write fails. The thread cannot be cancelled in between. */
struct os_write_guard {
    int cancel_state;
    sigset_t mask;
    sigset_t mine; /* those of the two signals that were not pending before the write */
};
void os_guard_writes(struct os_write_guard *guard);         /* [any] */
void os_unguard_writes(const struct os_write_guard *guard); /* [any] */

int os_open_read(const char *path); /* [handler] */
/* Opens an existing file for reading and writing. [handler] */
int os_open_write(const char *path);
ssize_t os_read(int fd, void *buffer, size_t bytes);                     /* [handler] */
ssize_t os_read_at(int fd, void *buffer, size_t bytes, uint64_t offset); /* [handler] */
/* Reads the start of a file in one call and appends a zero byte. Returns the number of bytes read; 0 if the
 * file cannot be read. [handler] */
size_t os_read_text(const char *path, char *text, size_t bytes);
/* Returns true if the process has locked its memory (mlockall). The kernel may then read a whole new mapping
 * at once, and counts the mapping against RLIMIT_MEMLOCK. [handler] */
bool os_memory_is_locked(void);
ssize_t os_write(int fd, const void *buffer, size_t bytes); /* [handler] */
void os_close(int fd);                                      /* [handler] */

bool os_file_id(int fd, uint64_t *device, uint64_t *inode); /* [handler] */

/* Writes the current absolute path of an open file. Returns false if it is unknown. [handler] */
bool os_file_path(int fd, char *path, size_t bytes);
/* Copies memory of this process. Returns false, and raises no signal, if the memory cannot be read. [handler] */
bool os_copy_memory(void *to, uintptr_t from, size_t bytes);

/* Copies a string page by page, because the page after it may be unreadable. Returns the number of bytes
 * including the final 0, or `bytes` if the string is longer; 0 if it cannot be read. [handler] */
size_t os_copy_text(char *to, size_t bytes, uintptr_t from);

#define OS_MAX_PARTS 6
struct os_part {
    void *to;
    uintptr_t from;
    size_t bytes;
};

/* Copies memory from up to OS_MAX_PARTS addresses by one system call. Returns false if any part cannot be
 * read. [handler] */
bool os_copy_parts(const struct os_part *parts, size_t count);

/* Takes a lock that is rarely contended; a lock of value 0 is free. Waiting threads sleep. If they spun, many
 * threads on few cores would spin for as long as the lock's owner has no core. [owner] */
void os_lock(uint32_t *lock);
void os_unlock(uint32_t *lock); /* [owner] */

pid_t os_tid(void); /* [handler] */

/* Returns the address of a word that is 0, and that the kernel resets to 0 in every copy of the process,
 * however the copy is made. Returns NULL if there is no memory or the kernel cannot do this (before Linux
 * 4.14). Must be freed by os_unmap(). [handler] */
uint32_t *os_map_wiped(void);

/* Returns the process's number, normally without a system call. The number is also right in a child made by
 * clone() or _Fork(). A child that shares its parent's memory (vfork) gets the parent's number. [handler] */
pid_t os_pid(void);

/* Returns true if no process has this number. [handler] */
bool os_is_dead(pid_t pid);

/* Returns the number of threads in this process; 0 if /proc does not show it. [any] */
uint32_t os_threads(void);

/* Reads how long a thread of this process has run on a core, and how long it has been ready to run without
 * one, in ns; both are 0 if the kernel does not count this. [any] */
void os_run_times(pid_t tid, uint64_t *on_core_ns, uint64_t *no_core_ns);

/* Returns 1 + the number of the core, if the thread may run on only one core; 0 if it may run on several, or
 * if this is unknown. [any] */
uint32_t os_only_core(pid_t tid);

/* Writes a list of the cores on which the calling thread may run, such as "0-3,8". Returns false if they are
 * unknown. [init] */
bool os_core_list(char *text, size_t bytes);

/* Starts a timer that sends `signal` to the calling thread at first_ns (on CLOCK_MONOTONIC) and then every
 * period_ns; once if that is 0. With a CPU clock, the first signal comes after first_ns of CPU time; after period_ns if
 * that is 0. siginfo_t.si_value is then 1, otherwise 0. Returns false if the system can create no more timers.
 * [handler] */
bool os_timer_start(timer_t *timer, int signal, bool cpu_clock, uint64_t first_ns, uint64_t period_ns);

/* Starts a timer that sends the calling thread a signal when all threads of the process have used cpu_ns more CPU time.
 * [owner] */
bool os_process_timer_start(timer_t *timer, int signal, uint64_t cpu_ns);
void os_timer_stop(timer_t timer); /* [owner] */

/* Returns true if a timer with this number exists, which may be a timer of the program. If there is none,
 * errno is EINVAL. [any] */
bool os_timer_is_there(timer_t timer);

/* Sets the next signal and the period of a timer, as above. [handler] */
bool os_timer_set(timer_t timer, bool cpu_clock, uint64_t first_ns, uint64_t period_ns);

/* Returns the length of the kernel's clock tick in ns: it checks timers of CPU time at ticks only. [init] */
uint64_t os_tick_ns(void);

/* Returns the number of cores on which this process may run: the cores in its affinity mask, but no more than
 * the cgroup's quota, rounded up. [init] */
unsigned os_cores(void);

/* Returns the start of the process on CLOCK_MONOTONIC in ns. /proc gives it only to one clock tick (10 ms);
 * the middle of the tick is returned. [init] */
uint64_t os_process_start_ns(void);
#define OS_PROCESS_START_UNSURE_NS 5000000u

/* Copies a file to the path `to`, which must not exist. Returns false with errno set on failure. [init] */
bool os_copy_file(const char *from, const char *to);

/* Copies a file to the path `to`. A file that exists there is replaced only when the copy is complete.
 * Returns false with errno set on failure. [init] */
bool os_copy_over(const char *from, const char *to);

/* Returns true if the path is on a file system that makes shared mappings slow (NFS, Lustre, GPFS, FUSE, SMB,
 * 9P). [init] */
bool os_is_network_path(const char *path);

/* ---- memory ---- */

/* Returns zeroed private memory, page aligned; NULL if there is no memory. Must be freed by os_unmap().
 * [handler] */
void *os_map(size_t bytes);

/* Makes the kernel allocate all pages of this memory now, if it can (since Linux 5.14). This saves two page
 * faults per page. [handler] */
void os_make_present(void *memory, size_t bytes);
void os_unmap(void *memory, size_t bytes); /* [handler] */

/* Maps a part of a file for reading, as a private mapping. Returns NULL on failure. [handler] */
const void *os_map_file(int fd, uint64_t offset, size_t bytes);

bool os_memory_is_limited(void); /* Returns true if RLIMIT_AS (ulimit -v) is set. [init] */

/* Maps a part of a file for writing, as a shared mapping. The disk space must be allocated (os_reserve)
 * before the memory is touched. Returns NULL on failure. [handler] */
void *os_map_shared(int fd, uint64_t offset, size_t bytes);

/* ---- a thread of this process, as the kernel sees it ---- */

/* Returns the thread's state letter as in proc(5), such as 'R' for running or ready, or 'Z' for ended; 0 if
 * there is no such thread. [any] */
char os_thread_state(pid_t tid);

#endif
