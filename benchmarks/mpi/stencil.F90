! The problem of benchmarks/mpi/stencil.c in Fortran. Each rank has a strip of columns. The program has `use mpi_f08`, or, with -DOLD, mpif.h, which
! any compiler can read. The result must equal that of one rank that sweeps the whole square. Usage: stencil [SIZE [SWEEPS]]
program stencil
#ifndef OLD
  use mpi_f08
#endif
  use omp_lib, only: omp_get_max_threads
  implicit none
#ifdef OLD
  include 'mpif.h'
#endif
  integer, parameter :: real64 = selected_real_kind(15)
  real(real64), allocatable :: now(:, :), next(:, :), whole(:, :), whole_next(:, :)
  real(real64) :: begin_s, seconds, slowest
  integer :: size, sweeps, rank, ranks, level, error, first, columns, left, right, wrong, all_wrong, i

  size = argument(1, 512)
  sweeps = argument(2, 200)
  call MPI_Init_thread(MPI_THREAD_FUNNELED, level, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  first = block(rank)
  columns = block(rank + 1) - first
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  allocate (now(0:size + 1, 0:columns + 1), next(0:size + 1, 0:columns + 1))
  call fill(now, first, columns)
  next = now

  call MPI_Barrier(MPI_COMM_WORLD, error)
  begin_s = MPI_Wtime()
  do i = 1, sweeps
    call exchange()
    call sweep(now, next, columns)
  end do
  seconds = MPI_Wtime() - begin_s

  allocate (whole(0:size + 1, 0:size + 1), whole_next(0:size + 1, 0:size + 1))
  call fill(whole, 0, size)
  whole_next = whole
  do i = 1, sweeps
    call sweep_columns(whole, whole_next, size)
  end do
  wrong = count(now(1:size, 1:columns) /= whole(1:size, first + 1:first + columns))
  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Reduce(seconds, slowest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0, a, i0, a, i0, a, i0, 1x, f0.6, 1x, a)', 'stencil ', size, ',sweeps=', sweeps, &
    ',ranks=', ranks, ' ', omp_get_max_threads(), slowest, merge('VERIFIED', 'FAILED  ', all_wrong == 0)
  call MPI_Finalize(error)
  if (all_wrong /= 0) stop 1
contains
  integer function argument(number, default)
    integer, intent(in) :: number, default
    character(len=32) :: text
    integer :: status
    argument = default
    if (command_argument_count() < number) return
    call get_command_argument(number, text)
    read (text, *, iostat=status) argument
    if (status /= 0 .or. argument < 1) stop 2
  end function

  integer function block(number)
    integer, intent(in) :: number
    block = size / ranks * number + min(mod(size, ranks), number)
  end function

  subroutine fill(values, before, count)
    integer, intent(in) :: before, count
    real(real64), intent(out) :: values(0:size + 1, 0:count + 1)
    integer :: row, column
    values = 0
    do column = 0, count + 1
      do row = 0, size + 1
        if (row == 0 .or. row == size + 1 .or. before + column == 0 .or. before + column == size + 1) &
          values(row, column) = mod(row * 7919 + (before + column) * 104729, 1000) / 1000.0_real64
      end do
    end do
  end subroutine

  subroutine exchange()
    call MPI_Sendrecv(now(1, columns), size, MPI_DOUBLE_PRECISION, right, 1, now(1, 0), size, MPI_DOUBLE_PRECISION, &
                      left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv(now(1, 1), size, MPI_DOUBLE_PRECISION, left, 2, now(1, columns + 1), size, MPI_DOUBLE_PRECISION, &
                      right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end subroutine

  subroutine make_column(from, to, column, count)
    integer, intent(in) :: column, count
    real(real64), intent(in) :: from(0:size + 1, 0:count + 1)
    real(real64), intent(inout) :: to(0:size + 1, 0:count + 1)
    to(1:size, column) = 0.25_real64 * (from(0:size - 1, column) + from(2:size + 1, column) + &
                                        from(1:size, column - 1) + from(1:size, column + 1))
  end subroutine

  subroutine sweep(values, made, count)
    integer, intent(in) :: count
    real(real64), allocatable, intent(inout) :: values(:, :), made(:, :)
    real(real64), allocatable :: turned(:, :)
    integer :: column
    !$omp parallel do
    do column = 1, count
      call make_column(values, made, column, count)
    end do
    !$omp end parallel do
    call move_alloc(values, turned)
    call move_alloc(made, values)
    call move_alloc(turned, made)
  end subroutine

  subroutine sweep_columns(values, made, count)
    integer, intent(in) :: count
    real(real64), allocatable, intent(inout) :: values(:, :), made(:, :)
    real(real64), allocatable :: turned(:, :)
    integer :: column
    do column = 1, count
      call make_column(values, made, column, count)
    end do
    call move_alloc(values, turned)
    call move_alloc(made, values)
    call move_alloc(turned, made)
  end subroutine
end program
