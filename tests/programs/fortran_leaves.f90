! A file of leaves. Optimised by flang without -g they have no call frame information; with -g it is in .debug_frame,
! and nowhere else.
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
