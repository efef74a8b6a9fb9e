! As mpi_late.c, in Fortran; by `use mpi`, and with -DF08 by `use mpi_f08`.
program mpi_late
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: rank, ranks, level, round, error, total, own
  double precision :: work
  call MPI_Init_thread(MPI_THREAD_FUNNELED, level, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  work = 0
  total = 0
  do round = 1, 5
    work = work + in_region()
    if (rank == 0) then
      work = work + be_late()
    else
      call MPI_Send(rank, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, error)
    end if
    call add_up(rank + round, own)
    total = total + own
  end do
  print '(a, i0, a, i0)', 'rank ', rank, ': ', total
  if (work < 0) print *, work
  call MPI_Finalize(error)
contains
  double precision function spin(seconds)
    double precision, intent(in) :: seconds
    double precision :: until
    until = MPI_Wtime() + seconds
    do
      spin = MPI_Wtime()
      if (spin >= until) exit
    end do
  end function

  double precision function in_region()
    in_region = 0
    !$omp parallel reduction(+:in_region)
    in_region = in_region + spin(0.002d0)
    !$omp end parallel
  end function

  double precision function be_late()
    integer :: from, number
    do from = 1, ranks - 1
      call MPI_Recv(number, 1, MPI_INTEGER, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end do
    be_late = spin(0.1d0)
  end function

  subroutine add_up(mine, all)
    integer, intent(in) :: mine
    integer, intent(out) :: all
    call MPI_Allreduce(mine, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  end subroutine
end program
