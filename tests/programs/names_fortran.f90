! Constructs in a module, an internal procedure, an external subroutine and the main program.
! tests/unit/test_symbols.c follows the line numbers: append, do not insert.
module solver
    implicit none
    real(8), volatile :: sink = 0.0d0
contains
    subroutine smooth(grid, count)
        integer, intent(in) :: count
        real(8), intent(inout) :: grid(count)
        integer :: i
        !$omp parallel do
        do i = 1, count
            grid(i) = grid(i) * 2.0d0 + sink
        end do
        !$omp end parallel do
        sink = sink + 1.0d0
    end subroutine smooth

    recursive subroutine walk(depth)
        integer, intent(in) :: depth
        !$omp task firstprivate(depth)
        sink = sink + depth
        if (depth > 0) call walk(depth - 1)
        sink = sink + depth
        !$omp end task
        sink = sink + 1.0d0
    end subroutine walk
end module solver

subroutine outside(grid, count)
    use solver, only: sink
    implicit none
    integer, intent(in) :: count
    real(8), intent(inout) :: grid(count)
    !$omp parallel
    sink = sink + grid(1)
    !$omp critical (ledger)
    sink = sink + grid(2)
    !$omp end critical (ledger)
    !$omp end parallel
    sink = sink + 1.0d0
end subroutine outside

program names
    use solver
    implicit none
    real(8) :: grid(64)
    grid = 1.0d0
    call smooth(grid, 64)
    call outside(grid, 64)
    !$omp parallel
    !$omp single
    call walk(4)
    !$omp end single
    !$omp end parallel
    call inside(3.0d0)
    print *, sink > 0.0d0
contains
    subroutine inside(weight)
        real(8), intent(in) :: weight
        !$omp parallel
        sink = sink + weight
        !$omp end parallel
        sink = sink + 1.0d0
    end subroutine inside
end program names

! A constant without a zero byte, which the linker may put before the string that names the line of the task below.
subroutine told(value)
    implicit none
    real(8), intent(in) :: value
    print '(f10.3,f12.3)', value, value
end subroutine told

! An undeferred task, whose body flang inlines.
recursive subroutine later(depth)
    use solver, only: sink
    implicit none
    integer, intent(in) :: depth
    !$omp task if(depth > 5)
    sink = sink + depth
    if (depth > 0) call later(depth - 1)
    sink = sink + 2.0d0
    !$omp end task
    sink = sink + 1.0d0
end subroutine later
