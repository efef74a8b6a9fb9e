! Optimised without -g, flang's code has no call frame information.
module kernels
contains
  subroutine inner(a)
    real(8), intent(inout) :: a(:)
    integer :: i, k
    do k = 1, 100
      do i = 1, size(a)
        a(i) = a(i) * 1.0000001d0 + 1d-9 * k
      end do
    end do
  end subroutine
  subroutine outer(a)
    real(8), intent(inout) :: a(:)
    integer :: k
    do k = 1, 40
      call inner(a)
    end do
  end subroutine
end module

program no_tables
  use kernels
  real(8) :: a(20000)
  integer :: i
  !$omp parallel do private(a)
  do i = 1, 10
    a = i
    call outer(a)
  end do
end program
