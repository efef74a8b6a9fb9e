! The main constructs in Fortran, one of them in each program (-DWITH_name): a compiler that lacks one has the others.
program coverage
  use coverage_c
  implicit none
  logical(c_bool) :: right
  right = .false.
  call run_construct(right)
  call coverage_finish(right)
end program

#ifdef WITH_parallel
subroutine run_construct(right)
  use coverage_c
  use omp_lib
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: seen(0:1)
  seen = 0
  !$omp parallel num_threads(2) shared(seen)
  seen(omp_get_thread_num()) = uneven(omp_get_thread_num())
  !$omp end parallel
  right = seen(0) == 1 .and. seen(1) == 2
end subroutine
#endif

#ifdef WITH_reduction
subroutine run_construct(right)
  use coverage_c
  use omp_lib
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: total
  total = 0
  !$omp parallel num_threads(2) reduction(+:total)
  total = total + uneven(omp_get_thread_num())
  !$omp end parallel
  right = total == 3
end subroutine
#endif

#ifdef WITH_do_static
subroutine run_construct(right)
  use coverage_c
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: i, seen(0:1)
  seen = 0
  !$omp parallel num_threads(2) shared(seen)
  !$omp do schedule(static)
  do i = 0, 1
    seen(i) = uneven(i)
  end do
  !$omp end do
  !$omp end parallel
  right = seen(0) == 1 .and. seen(1) == 2
end subroutine
#endif

#ifdef WITH_do_dynamic
subroutine run_construct(right)
  use coverage_c
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: i, seen(0:1)
  seen = 0
  !$omp parallel num_threads(2) shared(seen)
  !$omp do schedule(dynamic, 1)
  do i = 0, 1
    seen(i) = uneven(i)
  end do
  !$omp end do
  !$omp end parallel
  right = seen(0) == 1 .and. seen(1) == 2
end subroutine
#endif

#ifdef WITH_sections
subroutine run_construct(right)
  use coverage_c
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: first, second
  first = 0
  second = 0
  !$omp parallel num_threads(2) shared(first, second)
  !$omp sections
  !$omp section
  first = uneven(0)
  !$omp section
  second = uneven(1)
  !$omp end sections
  !$omp end parallel
  right = first == 1 .and. second == 2
end subroutine
#endif

#ifdef WITH_single
subroutine run_construct(right)
  use coverage_c
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: total
  total = 0
  !$omp parallel num_threads(2) shared(total)
  !$omp single
  total = total + uneven(0)
  !$omp end single
  !$omp end parallel
  right = total == 1
end subroutine
#endif

#ifdef WITH_barrier
subroutine run_construct(right)
  use coverage_c
  use omp_lib
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: seen(0:1), other(0:1), self
  seen = 0
  other = 0
  !$omp parallel num_threads(2) shared(seen, other) private(self)
  self = omp_get_thread_num()
  seen(self) = uneven(self)
  !$omp barrier
  other(self) = seen(1 - self)
  !$omp end parallel
  right = other(0) == 2 .and. other(1) == 1
end subroutine
#endif

#ifdef WITH_critical
subroutine run_construct(right)
  use coverage_c
  use omp_lib
  implicit none
  logical(c_bool), intent(out) :: right
  integer :: round
  do round = 1, 3
    !$omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) then
      call critical_section(0.0001d0, 0.0403d0)
    else
      call critical_section(0.0053d0, 0.0001d0)
    end if
    !$omp end parallel
  end do
  right = .true.
end subroutine
#endif

#ifdef WITH_lock
subroutine run_construct(right)
  use coverage_c
  use omp_lib
  implicit none
  logical(c_bool), intent(out) :: right
  integer(omp_lock_kind) :: lock
  integer :: round
  call omp_init_lock(lock)
  do round = 1, 3
    !$omp parallel num_threads(2) shared(lock)
    if (omp_get_thread_num() == 0) then
      call lock_section(lock, 0.0001d0, 0.0403d0)
    else
      call lock_section(lock, 0.0053d0, 0.0001d0)
    end if
    !$omp end parallel
  end do
  right = omp_test_lock(lock)
end subroutine
#endif

#ifdef WITH_atomic
subroutine run_construct(right)
  use coverage_c
  use omp_lib
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer, parameter :: updates = 300000
  integer :: i, total, seen(0:1)
  total = 0
  !$omp parallel num_threads(2) shared(total, seen) private(i)
  do i = 1, updates
    !$omp atomic update
    total = total + 1
  end do
  seen(omp_get_thread_num()) = uneven(omp_get_thread_num())
  !$omp end parallel
  right = total == 2 * updates .and. seen(1) == 2
end subroutine
#endif

#ifdef WITH_ordered
subroutine run_construct(right)
  use coverage_c
  implicit none
  logical(c_bool), intent(out) :: right
  real(c_double) :: asked_s, got_s
  integer :: i, order, good
  order = 0
  good = 0
  !$omp parallel num_threads(2) shared(order, good) private(asked_s, got_s)
  !$omp do ordered schedule(static, 1)
  do i = 0, 7
    asked_s = coverage_clock()
    !$omp ordered
    got_s = coverage_clock()
    call coverage_spin(got_s + 0.0203d0)
    if (order == i) good = good + 1
    order = order + 1
    call coverage_lock(4_c_int, asked_s, got_s, coverage_clock())
    !$omp end ordered
  end do
  !$omp end do
  !$omp end parallel
  right = good == 8
end subroutine
#endif

#ifdef WITH_task
subroutine run_construct(right)
  use coverage_c
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: first, second
  first = 0
  second = 0
  !$omp parallel num_threads(2) shared(first, second)
  !$omp single
  !$omp task shared(first)
  first = uneven(0)
  !$omp end task
  !$omp task shared(second)
  second = uneven(1)
  !$omp end task
  !$omp end single
  !$omp end parallel
  right = first == 1 .and. second == 2
end subroutine
#endif

#ifdef WITH_taskwait
subroutine run_construct(right)
  use coverage_c
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: first, second, third
  first = 0
  second = 0
  third = 0
  !$omp parallel num_threads(2) shared(first, second, third)
  !$omp single
  !$omp task shared(first)
  first = uneven(0)
  !$omp end task
  !$omp task shared(second)
  second = uneven(1)
  !$omp end task
  !$omp taskwait
  third = first + second
  !$omp end single
  !$omp end parallel
  right = third == 3
end subroutine
#endif

#ifdef WITH_taskgroup
subroutine run_construct(right)
  use coverage_c
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: first, second, third
  first = 0
  second = 0
  third = 0
  !$omp parallel num_threads(2) shared(first, second, third)
  !$omp single
  !$omp taskgroup
  !$omp task shared(first)
  first = uneven(0)
  !$omp end task
  !$omp task shared(second)
  second = uneven(1)
  !$omp end task
  !$omp end taskgroup
  third = first + second
  !$omp end single
  !$omp end parallel
  right = third == 3
end subroutine
#endif

#ifdef WITH_taskloop
subroutine run_construct(right)
  use coverage_c
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: i, seen(0:1)
  seen = 0
  !$omp parallel num_threads(2) shared(seen)
  !$omp single
  !$omp taskloop grainsize(1) shared(seen)
  do i = 0, 1
    seen(i) = uneven(i)
  end do
  !$omp end taskloop
  !$omp end single
  !$omp end parallel
  right = seen(0) == 1 .and. seen(1) == 2
end subroutine
#endif

#ifdef WITH_cancel
subroutine run_construct(right)
  use coverage_c
  use omp_lib
  implicit none
  logical(c_bool), intent(out) :: right
  integer, external :: uneven
  integer :: i, done, share
  done = 0
  !$omp parallel num_threads(2) shared(done) private(share)
  !$omp do schedule(monotonic:dynamic, 1)
  do i = 0, 999
    share = uneven(i)
    !$omp atomic update
    done = done + 1
    if (i == 1) then
      !$omp cancel do
    end if
    !$omp cancellation point do
  end do
  !$omp end do
  !$omp end parallel
  right = done == 2
end subroutine
#endif
