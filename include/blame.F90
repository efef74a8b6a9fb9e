! Declares the phases, events and parameters of a Fortran program to blame, as include/blame.h does in C.
! Compile this file with the program; there is nothing to link. Without the profiler, each call costs one
! predictable branch.
!
!     use blame
!     call blame_phase_begin('solve')               static phase: one row
!     call blame_phase_end('solve')
!     call blame_iteration_begin('step', 17)        dynamic phase: one numbered row for each execution
!     call blame_iteration_end('step')
!     call blame_event_begin('pack')                event: counted and timed exactly
!     call blame_event_end('pack')
!     call blame_parameter_begin('size', n)         parameter: a context "size = 512"
!     call blame_parameter_end('size')
!
! Numbers and values are integer(4) or integer(8). Trailing blanks of a name are ignored. More:
! docs/reading-a-report.md.
module blame
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: blame_phase_begin, blame_phase_end, blame_iteration_begin, blame_iteration_end
    public :: blame_event_begin, blame_event_end, blame_parameter_begin, blame_parameter_end
    public :: blame_next

    integer(c_int64_t), parameter :: blame_next = ibset(0_c_int64_t, 63) ! number of earlier executions

    ! Each kind includes BLAME_FOR_CALLER: the phase, event or parameter belongs to the caller of the procedure.
    integer(c_int), parameter :: for_caller = 256
    integer(c_int), parameter :: a_phase = 13 + for_caller, an_event = 14 + for_caller
    integer(c_int), parameter :: a_parameter = 15 + for_caller, an_iteration = 16 + for_caller
    integer(c_int), parameter :: command = int(z'626c616d', c_int)

    ! Address of the profiler's table. 0: the profiler has not been looked for yet; 1: there is none.
    integer(c_intptr_t), parameter :: not_asked = 0, absent = 1
    integer(c_intptr_t), volatile :: table = not_asked

    type, bind(c) :: calls_type
        integer(c_int32_t) :: bytes
        type(c_funptr) :: begin
        type(c_funptr) :: finish
    end type calls_type

    abstract interface
        subroutine begin_interface(name, bytes, kind, number) bind(c)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: bytes
            integer(c_int), value :: kind
            integer(c_int64_t), value :: number
        end subroutine begin_interface

        subroutine end_interface(name, bytes, kind) bind(c)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_size_t), value :: bytes
            integer(c_int), value :: kind
        end subroutine end_interface

        integer(c_int) function max_threads_interface() bind(c)
            import
        end function max_threads_interface

        integer(c_int) function control_interface(command, modifier, argument) bind(c)
            import
            integer(c_int), value :: command, modifier
            type(c_ptr), value :: argument
        end function control_interface
    end interface

    interface
        type(c_funptr) function find_symbol(handle, name) bind(c, name='dlsym')
            import
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
        end function find_symbol

        type(c_ptr) function find_variable(name) bind(c, name='getenv')
            import
            character(kind=c_char), intent(in) :: name(*)
        end function find_variable
    end interface

    interface blame_iteration_begin
        module procedure iteration_begin_4, iteration_begin_8
    end interface blame_iteration_begin

    interface blame_parameter_begin
        module procedure parameter_begin_4, parameter_begin_8
    end interface blame_parameter_begin

contains

    ! Returns true if the environment variable is set and not empty.
    logical function is_set(name)
        character(len=*), intent(in) :: name
        type(c_ptr) :: value
        character(kind=c_char), pointer :: text(:)
        value = find_variable(name // c_null_char)
        is_set = c_associated(value)
        if (.not. is_set) return
        call c_f_pointer(value, text, [1])
        is_set = text(1) /= c_null_char
    end function is_set

    ! Returns true if the profiler may be present. If it is not, no OpenMP runtime is started. The symbol is in
    ! libblame.so only; libomp also exports ompt_start_tool, so that name does not tell.
    logical function may_be_there()
        may_be_there = is_set('OMP_TOOL_LIBRARIES')
        if (.not. may_be_there) &
            may_be_there = c_associated(find_symbol(c_null_ptr, 'blame_launched' // c_null_char))
    end function may_be_there

    ! Asks for the profiler's table and keeps the answer. Threads that ask at the same time get the same answer.
    subroutine ask()
        type(c_funptr) :: max_threads_address, control_address
        procedure(max_threads_interface), pointer :: max_threads
        procedure(control_interface), pointer :: control
        type(c_ptr), target :: answer
        type(calls_type), pointer :: calls
        integer(c_intptr_t) :: found
        integer(c_int) :: ignored

        found = absent
        if (may_be_there()) then
            ! A runtime has no tool before it starts. The call of max_threads starts it.
            max_threads_address = find_symbol(c_null_ptr, 'omp_get_max_threads' // c_null_char)
            control_address = find_symbol(c_null_ptr, 'omp_control_tool' // c_null_char)
            if (c_associated(max_threads_address) .and. c_associated(control_address)) then
                call c_f_procpointer(max_threads_address, max_threads)
                call c_f_procpointer(control_address, control)
                answer = c_null_ptr
                ignored = max_threads()
                if (control(command, int(c_sizeof(calls), c_int), c_loc(answer)) /= 0) answer = c_null_ptr
                if (c_associated(answer)) then
                    call c_f_pointer(answer, calls)
                    if (calls%bytes >= c_sizeof(calls)) found = transfer(answer, found)
                end if
            end if
        end if
        table = found
    end subroutine ask

    ! Returns the profiler's procedure; null if there is no profiler. The caller first checks `table`, which is
    ! faster.
    subroutine find_begin(begin)
        procedure(begin_interface), pointer, intent(out) :: begin
        type(calls_type), pointer :: calls
        nullify(begin)
        call find_table(calls)
        if (associated(calls)) call c_f_procpointer(calls%begin, begin)
    end subroutine find_begin

    subroutine find_end(finish)
        procedure(end_interface), pointer, intent(out) :: finish
        type(calls_type), pointer :: calls
        nullify(finish)
        call find_table(calls)
        if (associated(calls)) call c_f_procpointer(calls%finish, finish)
    end subroutine find_end

    subroutine find_table(calls)
        type(calls_type), pointer, intent(out) :: calls
        integer(c_intptr_t) :: found
        nullify(calls)
        if (table == not_asked) call ask()
        found = table
        if (found /= absent) call c_f_pointer(transfer(found, c_null_ptr), calls)
    end subroutine find_table

    ! Each of the following procedures calls the profiler directly, so that only one frame lies between the
    ! profiler and the user. The check of `table` at the end (it is never not_asked there) prevents a tail call,
    ! which would leave no frame.

    subroutine blame_phase_begin(name)
        character(len=*), intent(in) :: name
        procedure(begin_interface), pointer :: begin
        if (table == absent) return
        call find_begin(begin)
        if (.not. associated(begin)) return
        call begin(name, len_trim(name, c_size_t), a_phase, 0_c_int64_t)
        if (table == not_asked) call ask()
    end subroutine blame_phase_begin

    subroutine blame_phase_end(name)
        character(len=*), intent(in) :: name
        procedure(end_interface), pointer :: finish
        if (table == absent) return
        call find_end(finish)
        if (.not. associated(finish)) return
        call finish(name, len_trim(name, c_size_t), a_phase)
        if (table == not_asked) call ask()
    end subroutine blame_phase_end

    subroutine iteration_begin_4(name, number)
        character(len=*), intent(in) :: name
        integer(c_int32_t), intent(in) :: number
        procedure(begin_interface), pointer :: begin
        if (table == absent) return
        call find_begin(begin)
        if (.not. associated(begin)) return
        call begin(name, len_trim(name, c_size_t), an_iteration, int(number, c_int64_t))
        if (table == not_asked) call ask()
    end subroutine iteration_begin_4

    subroutine iteration_begin_8(name, number)
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: number
        procedure(begin_interface), pointer :: begin
        if (table == absent) return
        call find_begin(begin)
        if (.not. associated(begin)) return
        call begin(name, len_trim(name, c_size_t), an_iteration, number)
        if (table == not_asked) call ask()
    end subroutine iteration_begin_8

    subroutine blame_iteration_end(name)
        character(len=*), intent(in) :: name
        procedure(end_interface), pointer :: finish
        if (table == absent) return
        call find_end(finish)
        if (.not. associated(finish)) return
        call finish(name, len_trim(name, c_size_t), an_iteration)
        if (table == not_asked) call ask()
    end subroutine blame_iteration_end

    subroutine blame_event_begin(name)
        character(len=*), intent(in) :: name
        procedure(begin_interface), pointer :: begin
        if (table == absent) return
        call find_begin(begin)
        if (.not. associated(begin)) return
        call begin(name, len_trim(name, c_size_t), an_event, 0_c_int64_t)
        if (table == not_asked) call ask()
    end subroutine blame_event_begin

    subroutine blame_event_end(name)
        character(len=*), intent(in) :: name
        procedure(end_interface), pointer :: finish
        if (table == absent) return
        call find_end(finish)
        if (.not. associated(finish)) return
        call finish(name, len_trim(name, c_size_t), an_event)
        if (table == not_asked) call ask()
    end subroutine blame_event_end

    subroutine parameter_begin_4(name, value)
        character(len=*), intent(in) :: name
        integer(c_int32_t), intent(in) :: value
        procedure(begin_interface), pointer :: begin
        if (table == absent) return
        call find_begin(begin)
        if (.not. associated(begin)) return
        call begin(name, len_trim(name, c_size_t), a_parameter, int(value, c_int64_t))
        if (table == not_asked) call ask()
    end subroutine parameter_begin_4

    subroutine parameter_begin_8(name, value)
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: value
        procedure(begin_interface), pointer :: begin
        if (table == absent) return
        call find_begin(begin)
        if (.not. associated(begin)) return
        call begin(name, len_trim(name, c_size_t), a_parameter, value)
        if (table == not_asked) call ask()
    end subroutine parameter_begin_8

    subroutine blame_parameter_end(name)
        character(len=*), intent(in) :: name
        procedure(end_interface), pointer :: finish
        if (table == absent) return
        call find_end(finish)
        if (.not. associated(finish)) return
        call finish(name, len_trim(name, c_size_t), a_parameter)
        if (table == not_asked) call ask()
    end subroutine blame_parameter_end
end module blame
