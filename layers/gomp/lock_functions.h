/* The ten lock functions of one version: included by locks.c once for each, without a guard. The includer defines
 *     TWIN(name)      the name of the function here, and of the real one in the table
 *     VERSION(name)   its name and version for the linker, as a string
 *     MEMORY(lock)    where the lock lies that the parameter means
 * All [any]. */

/* clang-format off */
__asm__(".symver " TEXT_OF(TWIN(omp_init_lock)) ", " VERSION(omp_init_lock));
__asm__(".symver " TEXT_OF(TWIN(omp_destroy_lock)) ", " VERSION(omp_destroy_lock));
__asm__(".symver " TEXT_OF(TWIN(omp_set_lock)) ", " VERSION(omp_set_lock));
__asm__(".symver " TEXT_OF(TWIN(omp_unset_lock)) ", " VERSION(omp_unset_lock));
__asm__(".symver " TEXT_OF(TWIN(omp_test_lock)) ", " VERSION(omp_test_lock));
__asm__(".symver " TEXT_OF(TWIN(omp_init_nest_lock)) ", " VERSION(omp_init_nest_lock));
__asm__(".symver " TEXT_OF(TWIN(omp_destroy_nest_lock)) ", " VERSION(omp_destroy_nest_lock));
__asm__(".symver " TEXT_OF(TWIN(omp_set_nest_lock)) ", " VERSION(omp_set_nest_lock));
__asm__(".symver " TEXT_OF(TWIN(omp_unset_nest_lock)) ", " VERSION(omp_unset_nest_lock));
__asm__(".symver " TEXT_OF(TWIN(omp_test_nest_lock)) ", " VERSION(omp_test_nest_lock));
/* clang-format on */

EXPORT void TWIN(omp_init_lock)(void *lock)
{
    provider_enter();
    real.TWIN(omp_init_lock)(lock);
    TELL(lock_init, ompt_mutex_lock, NO_HINT, MUTEX_FUTEX, (uintptr_t)lock, CODE);
}

EXPORT void TWIN(omp_destroy_lock)(void *lock)
{
    provider_enter();
    TELL(lock_destroy, ompt_mutex_lock, (uintptr_t)lock, CODE);
    real.TWIN(omp_destroy_lock)(lock);
}

EXPORT void TWIN(omp_set_lock)(void *lock)
{
    struct thread *thread = provider_enter();
    if (!thread) {
        real.TWIN(omp_set_lock)(lock);
        return;
    }
    mutex_acquire(thread, ompt_mutex_lock, (uintptr_t)lock, ompt_state_wait_lock, CODE);
    real.TWIN(omp_set_lock)(lock);
    mutex_acquired(thread, ompt_mutex_lock, (uintptr_t)lock, CODE);
}

EXPORT void TWIN(omp_unset_lock)(void *lock)
{
    provider_enter();
    real.TWIN(omp_unset_lock)(lock);
    TELL(mutex_released, ompt_mutex_lock, (uintptr_t)lock, CODE);
}

EXPORT int TWIN(omp_test_lock)(void *lock)
{
    struct thread *thread = provider_enter();
    if (thread)
        TELL(mutex_acquire, ompt_mutex_test_lock, NO_HINT, MUTEX_FUTEX, (uintptr_t)lock, CODE);
    int got = real.TWIN(omp_test_lock)(lock);
    if (thread && got)
        TELL(mutex_acquired, ompt_mutex_test_lock, (uintptr_t)lock, CODE);
    return got;
}

EXPORT void TWIN(omp_init_nest_lock)(void *lock)
{
    struct thread *thread = provider_enter();
    real.TWIN(omp_init_nest_lock)(lock);
    if (thread)
        TELL(lock_init, ompt_mutex_nest_lock, NO_HINT, MUTEX_FUTEX, (uintptr_t)lock, CODE);
}

EXPORT void TWIN(omp_destroy_nest_lock)(void *lock)
{
    struct thread *thread = provider_enter();
    if (thread)
        TELL(lock_destroy, ompt_mutex_nest_lock, (uintptr_t)lock, CODE);
    real.TWIN(omp_destroy_nest_lock)(lock);
}

EXPORT void TWIN(omp_set_nest_lock)(void *lock)
{
    struct thread *thread = provider_enter();
    if (!thread) {
        real.TWIN(omp_set_nest_lock)(lock);
        return;
    }
    mutex_acquire(thread, ompt_mutex_nest_lock, (uintptr_t)lock, ompt_state_wait_lock, CODE);
    real.TWIN(omp_set_nest_lock)(lock);
    nest_acquired(thread, ompt_mutex_nest_lock, lock, nest_depth(MEMORY(lock)), CODE);
}

EXPORT void TWIN(omp_unset_nest_lock)(void *lock)
{
    struct thread *thread = provider_enter();
    int depth = thread ? nest_depth(MEMORY(lock)) : 0;
    real.TWIN(omp_unset_nest_lock)(lock);
    nest_released(thread, lock, depth, CODE);
}

EXPORT int TWIN(omp_test_nest_lock)(void *lock)
{
    struct thread *thread = provider_enter();
    if (thread)
        TELL(mutex_acquire, ompt_mutex_test_nest_lock, NO_HINT, MUTEX_FUTEX, (uintptr_t)lock, CODE);
    int depth = real.TWIN(omp_test_nest_lock)(lock);
    if (thread && depth)
        nest_acquired(thread, ompt_mutex_test_nest_lock, lock, depth, CODE);
    return depth;
}

#undef TWIN
#undef VERSION
#undef MEMORY
