! Every call of include/blame.F90.
subroutine sized(name)
    use blame
    character(len=4), intent(in) :: name
    call blame_parameter_begin(name // '  ', -512)
    call blame_parameter_begin('large', 5000000000_8)
    call blame_event_begin('pack')
    call blame_event_end('pack')
    call blame_parameter_end('large')
    call blame_parameter_end('size ')
end subroutine sized

subroutine step(number)
    use blame
    integer, intent(in) :: number
    call blame_iteration_begin('step', number)
    call sized('size')
    call blame_iteration_end('step')
end subroutine step

subroutine solve()
    use blame
    character(len=12) :: name = 'solve it'
    call blame_phase_begin(name)
    call step(17)
    call blame_iteration_begin('next', blame_next)
    call blame_iteration_end('next')
    call blame_phase_end(name)
end subroutine solve

program header_fortran
    implicit none
    external :: solve
    call solve()
    print '(a)', 'done'
end program header_fortran
