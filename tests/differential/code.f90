! What Fortran's compilers make of recursion, arrays of any size, expressions of arrays, procedures in procedures, texts and
! formatted files: as tests/differential/code.c, with their runtime libraries below.
module differential_code
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: code_recursion, code_automatic, code_expressions, code_formats, code_texts, code_allocations, code_callbacks, &
            code_inner, code_numbers
  real(real64), volatile :: sink = 0

  type :: list
    integer :: value = 0
    type(list), pointer :: next => null()
  end type

  abstract interface
    pure logical function before(a, b)
      integer, intent(in) :: a, b
    end function
  end interface

contains

  recursive function deeper(depth, a) result(sum_of)
    integer, intent(in) :: depth
    real(real64), intent(in) :: a
    real(real64) :: sum_of, values(4)
    values = [a, a + 1, a + 2, real(depth, real64)]
    sum_of = values(mod(depth, 4) + 1)
    if (depth > 0) sum_of = sum_of + deeper(depth - 1, values(2))
  end function

  subroutine code_recursion() bind(C, name="code_recursion")
    sink = deeper(40, sink)
  end subroutine

  subroutine of_any_size(n, a)
    integer, intent(in) :: n
    real(real64), intent(inout) :: a(n, n)
    real(real64) :: turned(n, n), row(n)
    turned = transpose(a)
    row = turned(:, n)
    a = matmul(a, turned) / n + spread(row, 1, n)
    sink = sum(a, mask=a > 0)
  end subroutine

  subroutine code_automatic() bind(C, name="code_automatic")
    real(real64) :: a(20, 20)
    integer :: n
    a = 0.5
    do n = 1, 20
      call of_any_size(n, a(1:n, 1:n)) ! copied in and out
    end do
  end subroutine

  function scaled(a, by) result(b)
    real(real64), intent(in) :: a(:), by
    real(real64) :: b(size(a))
    b = a * by
  end function

  subroutine code_expressions() bind(C, name="code_expressions")
    real(real64) :: a(200)
    integer :: i
    a = [(real(i, real64), i = 1, 200)]
    a = scaled(a(200:1:-1), 2.0_real64) + scaled(pack(a, a > 0), 0.5_real64)
    where (a > 100) a = sqrt(a)
    sink = dot_product(a, cshift(a, 3)) + maxloc(a, 1) + count(a > 10)
  end subroutine

  subroutine code_formats() bind(C, name="code_formats")
    character(len=200) :: text
    real(real64) :: x
    integer :: i, n
    do i = 1, 4
      write (text, '(i5, 1x, f12.6, 1x, es20.12, 1x, a)') i, i * 1.25d0, 1d300 / i, 'text'
      read (text, *) n, x
      write (text, *) x, n, (1.5, 2.5), .true.
      sink = x + n + len_trim(text)
    end do
  end subroutine

  function joined(a, b) result(c)
    character(len=*), intent(in) :: a, b
    character(len=:), allocatable :: c
    c = trim(adjustl(a)) // '-' // repeat(b, 3)
  end function

  subroutine code_texts() bind(C, name="code_texts")
    character(len=:), allocatable :: text
    integer :: i
    text = ' a '
    do i = 1, 6
      text = joined(text, 'bc')
    end do
    sink = index(text, 'cb-', back=.true.) + scan(text, 'xyc') + verify(text, 'abc')
  end subroutine

  subroutine code_allocations() bind(C, name="code_allocations")
    type(list), pointer :: first, next
    real(real64), allocatable :: a(:), b(:)
    integer :: i
    nullify (first)
    do i = 1, 20
      allocate (next)
      next%value = i
      next%next => first
      first => next
      allocate (a(i * 100), source=1.0_real64)
      call move_alloc(a, b)
      a = b(1:i)
      sink = sum(a)
      deallocate (a, b)
    end do
    do while (associated(first))
      next => first%next
      deallocate (first)
      first => next
    end do
  end subroutine

  pure logical function less(a, b)
    integer, intent(in) :: a, b
    less = a < b
  end function

  recursive subroutine sort(values, is_before)
    integer, intent(inout) :: values(:)
    procedure(before) :: is_before
    integer :: i, last, pivot
    if (size(values) < 2) return
    pivot = values(1)
    last = 1
    do i = 2, size(values)
      if (is_before(values(i), pivot)) then
        last = last + 1
        values([i, last]) = values([last, i])
      end if
    end do
    values([1, last]) = values([last, 1])
    call sort(values(:last - 1), is_before)
    call sort(values(last + 1:), is_before)
  end subroutine

  subroutine code_callbacks() bind(C, name="code_callbacks")
    integer :: i, values(100)
    values = [(mod(i * 7919, 1000), i = 1, 100)]
    call sort(values, less)
    sink = values(50)
  end subroutine

  subroutine code_inner() bind(C, name="code_inner")
    real(real64) :: of_host(10)
    integer :: i
    of_host = 1
    do i = 1, 10
      call add(i)
    end do
    sink = sum(of_host)
  contains
    recursive subroutine add(n)
      integer, intent(in) :: n
      of_host(n) = of_host(n) + n
      if (n > 1) call add(n - 1)
    end subroutine
  end subroutine

  subroutine code_numbers() bind(C, name="code_numbers")
    complex(real64) :: z
    real(real64) :: x
    integer :: i
    z = (1, 1)
    do i = 1, 20
      x = i * 1.1d0
      z = exp(z / 10) * sqrt(z) + cmplx(sin(x), cos(x), real64) ** 2
      sink = abs(z) + x ** 1.7d0 + gamma(x / 10) + mod(x, 3d0) + anint(x) + bessel_j0(x)
    end do
    call random_number(x)
    sink = x
  end subroutine
end module
