! Heat on a plate, in Fortran. Each step is a numbered phase, each part of a step is a phase, and the size is a
! parameter. One thread computes the edge while the others wait.
!
! The program verifies that the first mode of the plate decays by a known factor in each step.
! Usage: heat [size [steps]]
module plate
    use omp_lib, only: omp_get_wtime
    use blame
    implicit none
    integer, parameter :: wide = selected_real_kind(12)
    real(wide), parameter :: diffusion = 0.2_wide
    real(wide) :: diffuse_s = 0, edge_s = 0, step_s = 0
contains
    subroutine diffuse(n, u, v)
        integer, intent(in) :: n
        real(wide), intent(in) :: u(0:n + 1, 0:n + 1)
        real(wide), intent(inout) :: v(0:n + 1, 0:n + 1)
        real(wide) :: begin_s
        integer :: i, j
        call blame_phase_begin('diffuse')
        begin_s = omp_get_wtime()
        !$omp parallel do schedule(static) private(i)
        do j = 1, n
            do i = 1, n
                v(i, j) = u(i, j) + diffusion * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) &
                    - 4 * u(i, j))
            end do
        end do
        !$omp end parallel do
        diffuse_s = diffuse_s + omp_get_wtime() - begin_s
        call blame_phase_end('diffuse')
    end subroutine diffuse

    ! serial, and more expensive than necessary
    subroutine edge(n, v)
        integer, intent(in) :: n
        real(wide), intent(inout) :: v(0:n + 1, 0:n + 1)
        real(wide) :: begin_s
        integer :: i, repetition
        call blame_phase_begin('edge')
        begin_s = omp_get_wtime()
        do repetition = 1, 200
            do i = 0, n + 1
                v(i, 0) = v(i, 0) * 0.5_wide
                v(i, n + 1) = v(i, n + 1) * 0.5_wide
                v(0, i) = v(0, i) * 0.5_wide
                v(n + 1, i) = v(n + 1, i) * 0.5_wide
            end do
        end do
        edge_s = edge_s + omp_get_wtime() - begin_s
        call blame_phase_end('edge')
    end subroutine edge

    subroutine step(number, n, u, v)
        integer, intent(in) :: number, n
        real(wide), intent(inout) :: u(0:n + 1, 0:n + 1), v(0:n + 1, 0:n + 1)
        real(wide) :: begin_s
        call blame_iteration_begin('step', number)
        begin_s = omp_get_wtime()
        call diffuse(n, u, v)
        call edge(n, v)
        step_s = step_s + omp_get_wtime() - begin_s
        call blame_iteration_end('step')
    end subroutine step

    real(wide) function mode(n, i)
        integer, intent(in) :: n, i
        mode = sin(acos(-1.0_wide) * i / (n + 1))
    end function mode
end module plate

program heat
    use plate
    implicit none
    real(wide), allocatable :: u(:, :), v(:, :)
    real(wide) :: expected, worst
    integer :: n = 1000, steps = 500, i, j
    character(len=32) :: argument
    if (command_argument_count() > 0) then
        call get_command_argument(1, argument)
        read (argument, *) n
    end if
    if (command_argument_count() > 1) then
        call get_command_argument(2, argument)
        read (argument, *) steps
    end if
    allocate (u(0:n + 1, 0:n + 1), v(0:n + 1, 0:n + 1))
    u = 0
    v = 0
    do j = 1, n
        do i = 1, n
            u(i, j) = mode(n, i) * mode(n, j)
        end do
    end do
    call blame_parameter_begin('size', n)
    do i = 0, steps - 1
        if (mod(i, 2) == 0) call step(i, n, u, v)
        if (mod(i, 2) == 1) call step(i, n, v, u)
    end do
    call blame_parameter_end('size')
    if (mod(steps, 2) == 1) u = v
    expected = (1 - 8 * diffusion * sin(acos(-1.0_wide) / (2 * (n + 1)))**2)**steps
    worst = 0
    do i = 1, n
        worst = max(worst, abs(u(i, n / 2) - expected * mode(n, i) * mode(n, n / 2)))
    end do
    print '(a, i0, f12.6)', 'clocked step ', steps, step_s
    print '(a, i0, f12.6)', 'clocked diffuse ', steps, diffuse_s
    print '(a, i0, f12.6)', 'clocked edge ', steps, edge_s
    print '(a)', 'verified: ' // merge('yes', 'NO ', worst < 1.0e-10_wide)
    if (worst >= 1.0e-10_wide) stop 1
end program heat
