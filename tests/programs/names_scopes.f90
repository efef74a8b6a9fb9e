! Procedures of one name in two modules, in one another, and an ENTRY.
! tests/unit/test_symbols_scopes.c follows the line numbers: append, do not insert.
module ma
    real(8), volatile :: sink = 0
contains
    subroutine step()
        sink = sink + 1
    end subroutine
    subroutine outer()
        call inner()
    contains
        subroutine inner()
            sink = sink + 2
        end subroutine
    end subroutine
end module
module mb
    use ma, only: sink
contains
    subroutine step()
        sink = sink + 3
    end subroutine
    subroutine whole(x)
        real(8) :: x
        sink = sink + x
        entry part(x)
        sink = sink * x
    end subroutine
end module
program scopes
    use ma, only: a => step, outer
    use mb, only: b => step, whole, part
    call a()
    call b()
    call outer()
    call whole(1.0d0)
    call part(1.0d0)
    call own()
contains
    subroutine own()
        sink_of_own = 1
    end subroutine
end program
