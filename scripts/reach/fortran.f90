! As openmp.c.
program reach
  implicit none
  integer :: row
  integer(8) :: total
  total = 0
  !$omp parallel do schedule(static) reduction(+:total)
  do row = 1, 400
     total = total + slow(row)
  end do
  print *, total
contains
  integer(8) function slow(row)
    integer, intent(in) :: row
    integer(8), volatile :: sum
    integer :: i, count
    sum = 0
    count = merge(300000, 30000, row <= 200)
    do i = 1, count
       sum = sum + ieor(i, row)
    end do
    slow = sum
  end function
end program
