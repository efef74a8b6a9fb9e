! The named procedures of fortran.F90, in a file of their own so that no compiler inlines them. Each ends with a store: a
! last call would become a jump.
module coverage_c
  use iso_c_binding
  implicit none
  interface
    function coverage_clock() bind(c)
      import c_double
      real(c_double) :: coverage_clock
    end function
    subroutine coverage_spin(end_s) bind(c)
      import c_double
      real(c_double), value :: end_s
    end subroutine
    subroutine coverage_work(name, seconds) bind(c)
      import c_int, c_double
      integer(c_int), value :: name
      real(c_double), value :: seconds
    end subroutine
    subroutine coverage_lock(name, asked_s, got_s, released_s) bind(c)
      import c_int, c_double
      integer(c_int), value :: name
      real(c_double), value :: asked_s, got_s, released_s
    end subroutine
    subroutine coverage_finish(right) bind(c)
      import c_bool
      logical(c_bool), value :: right
    end subroutine
  end interface
  integer, volatile :: last = 0
end module

subroutine slow_share()
  use coverage_c
  call coverage_work(0_c_int, 0.1207d0)
  last = 1
end subroutine

subroutine fast_share()
  use coverage_c
  call coverage_work(1_c_int, 0.0203d0)
  last = 2
end subroutine

! The work of share 0 is six times that of any other.
integer function uneven(share)
  integer, intent(in) :: share
  if (share == 0) then
    call slow_share()
  else
    call fast_share()
  end if
  uneven = share + 1
end function

subroutine critical_section(before_s, hold_s)
  use coverage_c
  real(c_double), intent(in) :: before_s, hold_s
  real(c_double) :: asked_s, got_s
  call coverage_work(2_c_int, before_s)
  asked_s = coverage_clock()
  !$omp critical
  got_s = coverage_clock()
  call coverage_spin(got_s + hold_s)
  !$omp end critical
  call coverage_lock(2_c_int, asked_s, got_s, coverage_clock())
  last = 3
end subroutine

subroutine lock_section(lock, before_s, hold_s)
  use coverage_c
  use omp_lib
  integer(omp_lock_kind), intent(inout) :: lock
  real(c_double), intent(in) :: before_s, hold_s
  real(c_double) :: asked_s, got_s
  call coverage_work(3_c_int, before_s)
  asked_s = coverage_clock()
  call omp_set_lock(lock)
  got_s = coverage_clock()
  call coverage_spin(got_s + hold_s)
  call omp_unset_lock(lock)
  call coverage_lock(3_c_int, asked_s, got_s, coverage_clock())
  last = 4
end subroutine
