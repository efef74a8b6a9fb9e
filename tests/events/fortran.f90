! The main constructs of regions.c and tasks.c in Fortran; named as there, and determined as there (team.h).
module team
  use omp_lib
  implicit none
  integer, volatile :: reached(0:7) = 0
contains
  subroutine reach(place)
    integer, intent(in) :: place
    !$omp atomic write seq_cst
    reached(place) = 1
  end subroutine

  subroutine await(place)
    integer, intent(in) :: place
    integer :: seen
    seen = 0
    do while (seen == 0)
      !$omp atomic read seq_cst
      seen = reached(place)
    end do
  end subroutine

  subroutine share(piece)
    integer, intent(in) :: piece
    call reach(piece)
    call await(1 - piece)
  end subroutine

  subroutine parallel()
    !$omp parallel num_threads(2)
    call reach(0)
    !$omp end parallel
  end subroutine

  subroutine barrier()
    !$omp parallel num_threads(2)
    call reach(0)
    !$omp barrier
    call reach(1)
    !$omp end parallel
  end subroutine

  subroutine for_static()
    integer :: i
    !$omp parallel num_threads(2)
    !$omp do schedule(static)
    do i = 0, 1
      call share(i)
    end do
    !$omp end do
    call reach(2)
    !$omp end parallel
  end subroutine

  subroutine for_dynamic()
    integer :: i
    !$omp parallel num_threads(2)
    !$omp do schedule(dynamic)
    do i = 0, 1
      call share(i)
    end do
    !$omp end do
    call reach(2)
    !$omp end parallel
  end subroutine

  subroutine sections()
    !$omp parallel num_threads(2)
    !$omp sections
    !$omp section
    call share(0)
    !$omp section
    call share(1)
    !$omp end sections
    call reach(2)
    !$omp end parallel
  end subroutine

  subroutine single()
    !$omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) call await(0)
    !$omp single
    call reach(0)
    !$omp end single
    call reach(1)
    !$omp end parallel
  end subroutine

  subroutine critical()
    !$omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) call await(0)
    !$omp critical
    call reach(0)
    !$omp end critical
    call reach(1)
    !$omp end parallel
  end subroutine

  subroutine lock()
    integer(omp_lock_kind) :: lock_
    call omp_init_lock(lock_)
    !$omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) call await(0)
    call omp_set_lock(lock_)
    call reach(0)
    call omp_unset_lock(lock_)
    !$omp end parallel
    call omp_destroy_lock(lock_)
  end subroutine

  subroutine task_taskwait()
    !$omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) then
      !$omp task
      call reach(0)
      !$omp end task
      !$omp taskwait
      call reach(1)
    else
      call await(1)
    end if
    !$omp end parallel
  end subroutine

  subroutine taskgroup()
    !$omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) then
      !$omp taskgroup
      !$omp task
      !$omp task
      call reach(0)
      !$omp end task
      !$omp end task
      !$omp end taskgroup
      call reach(1)
    else
      call await(1)
    end if
    !$omp end parallel
  end subroutine

  subroutine task_elsewhere()
    !$omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) then
      !$omp task
      call reach(0)
      !$omp end task
      call await(0)
    end if
    !$omp end parallel
  end subroutine
end module

program constructs
  use team
  implicit none
  character(32) :: name
  call get_command_argument(1, name)
  select case (name)
  case ('parallel'); call parallel()
  case ('barrier'); call barrier()
  case ('for_static'); call for_static()
  case ('for_dynamic'); call for_dynamic()
  case ('sections'); call sections()
  case ('single'); call single()
  case ('critical'); call critical()
  case ('lock'); call lock()
  case ('task_taskwait'); call task_taskwait()
  case ('task_elsewhere'); call task_elsewhere()
  case ('taskgroup'); call taskgroup()
  case default; stop 2
  end select
end program
