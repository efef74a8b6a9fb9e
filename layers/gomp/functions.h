/* The functions of libgomp that the provider stands before, each with its version and its C type: one list, from
 * which the table of the real functions is made (real.h). The order is that of libgomp's own sources. */
#ifndef BLAME_LAYERS_GOMP_FUNCTIONS_H
#define BLAME_LAYERS_GOMP_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void outlined(void *);
typedef void copier(void *, void *);
typedef unsigned long long ull;

#define TEAM              outlined *body, void *argument, unsigned threads
#define ITERATIONS        long start, long end, long step
#define CHUNK             long *from, long *to
#define UP_AND_ITERATIONS bool up, ull start, ull end, ull step
#define ULL_CHUNK         ull *from, ull *to
#define SHARED            uintptr_t *reductions, void **memory
#define TASK              outlined *body, void *argument, copier *copy, long bytes, long align

/* F(name, version, type of the result, parameters) */
#define GOMP_PARALLEL_FUNCTIONS(F)                                                                                     \
    F(GOMP_parallel_start, "GOMP_1.0", void, (TEAM))                                                                   \
    F(GOMP_parallel_end, "GOMP_1.0", void, (void))                                                                     \
    F(GOMP_parallel_loop_static_start, "GOMP_1.0", void, (TEAM, ITERATIONS, long chunk))                               \
    F(GOMP_parallel_loop_dynamic_start, "GOMP_1.0", void, (TEAM, ITERATIONS, long chunk))                              \
    F(GOMP_parallel_loop_guided_start, "GOMP_1.0", void, (TEAM, ITERATIONS, long chunk))                               \
    F(GOMP_parallel_loop_runtime_start, "GOMP_1.0", void, (TEAM, ITERATIONS))                                          \
    F(GOMP_parallel_sections_start, "GOMP_1.0", void, (TEAM, unsigned count))                                          \
    F(GOMP_parallel, "GOMP_4.0", void, (TEAM, unsigned flags))                                                         \
    F(GOMP_parallel_reductions, "GOMP_5.0", unsigned, (TEAM, unsigned flags))                                          \
    F(GOMP_parallel_loop_static, "GOMP_4.0", void, (TEAM, ITERATIONS, long chunk, unsigned flags))                     \
    F(GOMP_parallel_loop_dynamic, "GOMP_4.0", void, (TEAM, ITERATIONS, long chunk, unsigned flags))                    \
    F(GOMP_parallel_loop_guided, "GOMP_4.0", void, (TEAM, ITERATIONS, long chunk, unsigned flags))                     \
    F(GOMP_parallel_loop_runtime, "GOMP_4.0", void, (TEAM, ITERATIONS, unsigned flags))                                \
    F(GOMP_parallel_loop_nonmonotonic_dynamic, "GOMP_4.5", void, (TEAM, ITERATIONS, long chunk, unsigned flags))       \
    F(GOMP_parallel_loop_nonmonotonic_guided, "GOMP_4.5", void, (TEAM, ITERATIONS, long chunk, unsigned flags))        \
    F(GOMP_parallel_loop_nonmonotonic_runtime, "GOMP_5.0", void, (TEAM, ITERATIONS, unsigned flags))                   \
    F(GOMP_parallel_loop_maybe_nonmonotonic_runtime, "GOMP_5.0", void, (TEAM, ITERATIONS, unsigned flags))             \
    F(GOMP_parallel_sections, "GOMP_4.0", void, (TEAM, unsigned count, unsigned flags))                                \
    F(GOMP_teams_reg, "GOMP_5.0", void,                                                                                \
      (outlined * body, void *argument, unsigned teams, unsigned limit, unsigned flags))

#define GOMP_TASK_FUNCTIONS(F)                                                                                         \
    F(GOMP_task, "GOMP_2.0", void, (TASK, bool if_clause, unsigned flags, void **depend, int priority, void *detach))  \
    F(GOMP_taskloop, "GOMP_4.5", void, (TASK, unsigned flags, unsigned long parts, int priority, ITERATIONS))          \
    F(GOMP_taskloop_ull, "GOMP_4.5", void,                                                                             \
      (TASK, unsigned flags, unsigned long parts, int priority, ull start, ull end, ull step))                         \
    F(GOMP_taskwait, "GOMP_2.0", void, (void))                                                                         \
    F(GOMP_taskwait_depend, "GOMP_5.0", void, (void **depend))                                                         \
    F(GOMP_taskgroup_start, "GOMP_4.0", void, (void))                                                                  \
    F(GOMP_taskgroup_end, "GOMP_4.0", void, (void))                                                                    \
    F(GOMP_taskgroup_reduction_register, "GOMP_5.0", void, (uintptr_t *data))                                          \
    F(GOMP_workshare_task_reduction_unregister, "GOMP_5.0", void, (bool cancelled))                                    \
    F(omp_fulfill_event, "OMP_5.0.1", void, (void *event))                                                             \
    F(omp_fulfill_event_, "OMP_5.0.1", void, (void **event))

#define GOMP_WAIT_FUNCTIONS(F)                                                                                         \
    F(GOMP_barrier, "GOMP_1.0", void, (void))                                                                          \
    F(GOMP_barrier_cancel, "GOMP_4.0", bool, (void))                                                                   \
    F(GOMP_cancel, "GOMP_4.0", bool, (int which, bool requested))                                                      \
    F(GOMP_cancellation_point, "GOMP_4.0", bool, (int which))                                                          \
    F(GOMP_loop_end, "GOMP_1.0", void, (void))                                                                         \
    F(GOMP_loop_end_nowait, "GOMP_1.0", void, (void))                                                                  \
    F(GOMP_loop_end_cancel, "GOMP_4.0", bool, (void))                                                                  \
    F(GOMP_sections_end, "GOMP_1.0", void, (void))                                                                     \
    F(GOMP_sections_end_nowait, "GOMP_1.0", void, (void))                                                              \
    F(GOMP_sections_end_cancel, "GOMP_4.0", bool, (void))                                                              \
    F(GOMP_sections_start, "GOMP_1.0", unsigned, (unsigned count))                                                     \
    F(GOMP_sections2_start, "GOMP_5.0", unsigned, (unsigned count, SHARED))                                            \
    F(GOMP_sections_next, "GOMP_1.0", unsigned, (void))                                                                \
    F(GOMP_single_start, "GOMP_1.0", bool, (void))                                                                     \
    F(GOMP_single_copy_start, "GOMP_1.0", void *, (void))                                                              \
    F(GOMP_single_copy_end, "GOMP_1.0", void, (void *data))                                                            \
    F(GOMP_scope_start, "GOMP_5.1", void, (uintptr_t *reductions))                                                     \
    F(GOMP_ordered_start, "GOMP_1.0", void, (void))                                                                    \
    F(GOMP_ordered_end, "GOMP_1.0", void, (void))                                                                      \
    F(GOMP_critical_start, "GOMP_1.0", void, (void))                                                                   \
    F(GOMP_critical_end, "GOMP_1.0", void, (void))                                                                     \
    F(GOMP_critical_name_start, "GOMP_1.0", void, (void **lock))                                                       \
    F(GOMP_critical_name_end, "GOMP_1.0", void, (void **lock))                                                         \
    F(GOMP_atomic_start, "GOMP_1.0", void, (void))                                                                     \
    F(GOMP_atomic_end, "GOMP_1.0", void, (void))

/* Loops that libgomp divides: a loop's first chunk, with its schedule; the first chunk, the schedule being chosen at run
 * time; the next chunk. Each is there for long and for unsigned long long. L(name, version, schedule) */
#define GOMP_STARTS(L, loop, first)                                                                                    \
    L(GOMP_##loop##_static_start, first, ompt_work_loop_static)                                                        \
    L(GOMP_##loop##_dynamic_start, first, ompt_work_loop_dynamic)                                                      \
    L(GOMP_##loop##_guided_start, first, ompt_work_loop_guided)                                                        \
    L(GOMP_##loop##_nonmonotonic_dynamic_start, "GOMP_4.5", ompt_work_loop_dynamic)                                    \
    L(GOMP_##loop##_nonmonotonic_guided_start, "GOMP_4.5", ompt_work_loop_guided)                                      \
    L(GOMP_##loop##_ordered_static_start, first, ompt_work_loop_static)                                                \
    L(GOMP_##loop##_ordered_dynamic_start, first, ompt_work_loop_dynamic)                                              \
    L(GOMP_##loop##_ordered_guided_start, first, ompt_work_loop_guided)
#define GOMP_RUNTIME_STARTS(L, loop, first)                                                                            \
    L(GOMP_##loop##_runtime_start, first, 0)                                                                           \
    L(GOMP_##loop##_nonmonotonic_runtime_start, "GOMP_5.0", 0)                                                         \
    L(GOMP_##loop##_maybe_nonmonotonic_runtime_start, "GOMP_5.0", 0)                                                   \
    L(GOMP_##loop##_ordered_runtime_start, first, 0)
#define GOMP_NEXTS(L, loop, first)                                                                                     \
    L(GOMP_##loop##_static_next, first, 0)                                                                             \
    L(GOMP_##loop##_dynamic_next, first, 0)                                                                            \
    L(GOMP_##loop##_guided_next, first, 0)                                                                             \
    L(GOMP_##loop##_runtime_next, first, 0)                                                                            \
    L(GOMP_##loop##_nonmonotonic_dynamic_next, "GOMP_4.5", 0)                                                          \
    L(GOMP_##loop##_nonmonotonic_guided_next, "GOMP_4.5", 0)                                                           \
    L(GOMP_##loop##_nonmonotonic_runtime_next, "GOMP_5.0", 0)                                                          \
    L(GOMP_##loop##_maybe_nonmonotonic_runtime_next, "GOMP_5.0", 0)                                                    \
    L(GOMP_##loop##_ordered_static_next, first, 0)                                                                     \
    L(GOMP_##loop##_ordered_dynamic_next, first, 0)                                                                    \
    L(GOMP_##loop##_ordered_guided_next, first, 0)                                                                     \
    L(GOMP_##loop##_ordered_runtime_next, first, 0)
#define GOMP_LOOP_STARTS(L)             GOMP_STARTS(L, loop, "GOMP_1.0")
#define GOMP_RUNTIME_LOOP_STARTS(L)     GOMP_RUNTIME_STARTS(L, loop, "GOMP_1.0")
#define GOMP_LOOP_NEXTS(L)              GOMP_NEXTS(L, loop, "GOMP_1.0")
#define GOMP_ULL_LOOP_STARTS(L)         GOMP_STARTS(L, loop_ull, "GOMP_2.0")
#define GOMP_ULL_RUNTIME_LOOP_STARTS(L) GOMP_RUNTIME_STARTS(L, loop_ull, "GOMP_2.0")
#define GOMP_ULL_LOOP_NEXTS(L)          GOMP_NEXTS(L, loop_ull, "GOMP_2.0")

/* Loops that start by a function of their own. */
#define GOMP_OTHER_LOOP_FUNCTIONS(F)                                                                                   \
    F(GOMP_loop_start, "GOMP_5.0", bool, (ITERATIONS, long schedule, long chunk, CHUNK, SHARED))                       \
    F(GOMP_loop_ordered_start, "GOMP_5.0", bool, (ITERATIONS, long schedule, long chunk, CHUNK, SHARED))               \
    F(GOMP_loop_ull_start, "GOMP_5.0", bool, (UP_AND_ITERATIONS, long schedule, ull chunk, ULL_CHUNK, SHARED))         \
    F(GOMP_loop_ull_ordered_start, "GOMP_5.0", bool, (UP_AND_ITERATIONS, long schedule, ull chunk, ULL_CHUNK, SHARED)) \
    F(GOMP_loop_doacross_static_start, "GOMP_4.5", bool, (unsigned loops, long *counts, long chunk, CHUNK))            \
    F(GOMP_loop_doacross_dynamic_start, "GOMP_4.5", bool, (unsigned loops, long *counts, long chunk, CHUNK))           \
    F(GOMP_loop_doacross_guided_start, "GOMP_4.5", bool, (unsigned loops, long *counts, long chunk, CHUNK))            \
    F(GOMP_loop_doacross_runtime_start, "GOMP_4.5", bool, (unsigned loops, long *counts, CHUNK))                       \
    F(GOMP_loop_doacross_start, "GOMP_5.0", bool,                                                                      \
      (unsigned loops, long *counts, long schedule, long chunk, CHUNK, SHARED))                                        \
    F(GOMP_loop_ull_doacross_static_start, "GOMP_4.5", bool, (unsigned loops, ull *counts, ull chunk, ULL_CHUNK))      \
    F(GOMP_loop_ull_doacross_dynamic_start, "GOMP_4.5", bool, (unsigned loops, ull *counts, ull chunk, ULL_CHUNK))     \
    F(GOMP_loop_ull_doacross_guided_start, "GOMP_4.5", bool, (unsigned loops, ull *counts, ull chunk, ULL_CHUNK))      \
    F(GOMP_loop_ull_doacross_runtime_start, "GOMP_4.5", bool, (unsigned loops, ull *counts, ULL_CHUNK))                \
    F(GOMP_loop_ull_doacross_start, "GOMP_5.0", bool,                                                                  \
      (unsigned loops, ull *counts, long schedule, ull chunk, ULL_CHUNK, SHARED))                                      \
    F(GOMP_doacross_post, "GOMP_4.5", void, (long *counts))                                                            \
    F(GOMP_doacross_ull_post, "GOMP_4.5", void, (ull * counts))                                                        \
    F(GOMP_doacross_wait, "GOMP_4.5", void, (long first, ...))                                                         \
    F(GOMP_doacross_ull_wait, "GOMP_4.5", void, (ull first, ...))

#define GOMP_TARGET_FUNCTIONS(F)                                                                                       \
    F(GOMP_target_ext, "GOMP_4.5", void,                                                                               \
      (int device, outlined *body, size_t count, void **addresses, size_t *sizes, unsigned short *kinds,               \
       unsigned flags, void **depend, void **arguments))                                                               \
    F(omp_get_num_devices, "OMP_4.0", int, (void))

/* What the provider only asks. */
#define GOMP_QUESTIONS(F)                                                                                              \
    F(omp_get_thread_num, "OMP_1.0", int, (void))                                                                      \
    F(omp_get_num_threads, "OMP_1.0", int, (void))                                                                     \
    F(omp_get_max_threads, "OMP_1.0", int, (void))                                                                     \
    F(omp_get_num_procs, "OMP_1.0", int, (void))                                                                       \
    F(omp_get_level, "OMP_3.0", int, (void))                                                                           \
    F(omp_get_schedule, "OMP_3.0", void, (int *kind, int *chunk))                                                      \
    F(omp_in_final, "OMP_3.1", int, (void))                                                                            \
    F(omp_get_cancellation, "OMP_4.0", int, (void))                                                                    \
    F(omp_get_team_num, "OMP_4.0", int, (void))                                                                        \
    F(omp_get_num_teams, "OMP_4.0", int, (void))                                                                       \
    F(omp_get_num_places, "OMP_4.5", int, (void))                                                                      \
    F(omp_get_place_num, "OMP_4.5", int, (void))                                                                       \
    F(omp_get_place_num_procs, "OMP_4.5", int, (int place))                                                            \
    F(omp_get_place_proc_ids, "OMP_4.5", void, (int place, int *ids))                                                  \
    F(omp_get_partition_num_places, "OMP_4.5", int, (void))                                                            \
    F(omp_get_partition_place_nums, "OMP_4.5", void, (int *places))

/* The ten lock functions. Each exists in two versions, and each of these also for Fortran. They differ in the
 * size of a nest lock: 8 bytes in OMP_1.0, 16 bytes in OMP_3.0. K(name, type of the result) */
#define GOMP_LOCK_FUNCTIONS(K)                                                                                         \
    K(omp_init_lock, void)                                                                                             \
    K(omp_destroy_lock, void)                                                                                          \
    K(omp_set_lock, void)                                                                                              \
    K(omp_unset_lock, void)                                                                                            \
    K(omp_test_lock, int)                                                                                              \
    K(omp_init_nest_lock, void)                                                                                        \
    K(omp_destroy_nest_lock, void)                                                                                     \
    K(omp_set_nest_lock, void)                                                                                         \
    K(omp_unset_nest_lock, void)                                                                                       \
    K(omp_test_nest_lock, int)

#define GOMP_FUNCTIONS(F)                                                                                              \
    GOMP_PARALLEL_FUNCTIONS(F)                                                                                         \
    GOMP_TASK_FUNCTIONS(F)                                                                                             \
    GOMP_WAIT_FUNCTIONS(F)                                                                                             \
    GOMP_OTHER_LOOP_FUNCTIONS(F)                                                                                       \
    GOMP_TARGET_FUNCTIONS(F)                                                                                           \
    GOMP_QUESTIONS(F)

#endif
