! Paths through the functions of fortran_leaves.f90.
program fortran_tables
  use kernels
  real(8) :: a(20000)
  integer :: i
  !$omp parallel do private(a)
  do i = 1, 10
    a = i
    call outer(a)
  end do
end program
