! As advice.c, in Fortran: advice_f90 list, or advice_f90 CASE THREADS before|after.
module programs
  use omp_lib
  implicit none
  integer, parameter :: pieces = 400
  double precision, parameter :: whole = 8.0d5
  integer :: threads
  logical :: fixed
  double precision, volatile :: sink
contains
  ! Works for about that many microseconds.
  subroutine work(us)
    double precision, intent(in) :: us
    double precision :: x
    integer(8) :: i
    x = us
    do i = 1, int(us * 700, 8)
      x = x * 0.999999d0 + 1d-6
    end do
    sink = x
  end subroutine

  subroutine even(us)
    double precision, intent(in) :: us
    integer :: i
    !$omp parallel do num_threads(threads) schedule(dynamic, 1)
    do i = 1, pieces
      call work(us / pieces)
    end do
  end subroutine

  subroutine serial_part()
    integer :: i
    do i = 1, pieces
      call work(whole / 2 / pieces)
    end do
  end subroutine

  subroutine triangle()
    integer :: i
    if (fixed) then
      call omp_set_schedule(omp_sched_dynamic, 1)
    else
      call omp_set_schedule(omp_sched_static, 0)
    end if
    !$omp parallel do num_threads(threads) schedule(runtime)
    do i = 1, pieces
      call work(2 * whole * i / pieces / pieces)
    end do
  end subroutine

  subroutine few_iterations()
    integer :: i, count
    count = merge(40 * threads, threads + 1, fixed)
    !$omp parallel do num_threads(threads) schedule(static, 1)
    do i = 1, count
      call work(whole / count)
    end do
  end subroutine

  subroutine critical_section()
    integer :: i
    !$omp parallel do num_threads(threads) schedule(static)
    do i = 1, pieces
      if (fixed) call work(whole * 0.8d0 / pieces)
      !$omp critical (sums)
      if (.not. fixed) call work(whole * 0.8d0 / pieces)
      sink = sink + i
      !$omp end critical (sums)
      call work(whole * 0.2d0 / pieces)
    end do
  end subroutine

  subroutine tiny_regions()
    integer :: step, i, steps
    call get_environment_variable('ADVICE_FEWER', length=i)
    steps = merge(30000, 300000, i > 0)
    if (fixed) then
      !$omp parallel do num_threads(threads) schedule(static)
      do i = 1, steps * threads
        call work(1d0)
      end do
      return
    end if
    do step = 1, steps
      !$omp parallel do num_threads(threads) schedule(static)
      do i = 1, threads
        call work(1d0)
      end do
    end do
  end subroutine

  subroutine in_single()
    integer :: i
    !$omp parallel num_threads(threads)
    if (fixed) then
      !$omp do schedule(dynamic, 1)
      do i = 1, pieces
        call work(whole * 0.5d0 / pieces)
      end do
    else
      !$omp single
      call work(whole * 0.5d0)
      !$omp end single
    end if
    !$omp do schedule(dynamic, 1)
    do i = 1, pieces
      call work(whole * 0.5d0 / pieces)
    end do
    !$omp end parallel
  end subroutine
end module

program advice
  use programs
  implicit none
  character(len=32) :: name, number, how
  character, parameter :: tab = achar(9)
  call get_command_argument(1, name)
  if (command_argument_count() == 1 .and. name == 'list') then
    print '(a)', 'serial' // tab // 'serial' // tab // 'serial_part' // tab // 'serial', &
      'triangle' // tab // 'imbalance' // tab // 'triangle' // tab // 'dynamic', &
      'few iterations' // tab // 'coarse imbalance' // tab // 'few_iterations' // tab // 'too few iterations', &
      'critical' // tab // 'lock-bound' // tab // 'critical_sect' // tab // 'lock', &
      'tiny regions' // tab // 'fine' // tab // 'tiny_regions' // tab // 'regions', &
      'in single' // tab // 'coarse' // tab // 'in_single' // tab // 'single'
    stop
  end if
  call get_command_argument(2, number)
  call get_command_argument(3, how)
  read (number, *) threads
  fixed = how == 'after'
  select case (name)
  case ('serial')
    call even(whole / 2)
    if (fixed) then
      call even(whole / 2)
    else
      call serial_part()
    end if
  case ('triangle')
    call triangle()
  case ('few iterations')
    call few_iterations()
  case ('critical')
    call critical_section()
  case ('tiny regions')
    call tiny_regions()
  case ('in single')
    call in_single()
  end select
end program
