! SPDX-License-Identifier: Apache-2.0
! The Fortran of mpi_ranks.c: functions f1 to f10 called 10 K + rank times, a sum over all ranks, a ring,
! memory shared by the ranks of a node. Rank 0 prints "ranks N sum S node K".
module calls
  implicit none
  integer(8), volatile :: sink = 0
contains
  subroutine f1() bind(C, name='f1')
    sink = sink + 1
  end subroutine
  subroutine f2() bind(C, name='f2')
    sink = sink + 2
  end subroutine
  subroutine f3() bind(C, name='f3')
    sink = sink + 3
  end subroutine
  subroutine f4() bind(C, name='f4')
    sink = sink + 4
  end subroutine
  subroutine f5() bind(C, name='f5')
    sink = sink + 5
  end subroutine
  subroutine f6() bind(C, name='f6')
    sink = sink + 6
  end subroutine
  subroutine f7() bind(C, name='f7')
    sink = sink + 7
  end subroutine
  subroutine f8() bind(C, name='f8')
    sink = sink + 8
  end subroutine
  subroutine f9() bind(C, name='f9')
    sink = sink + 9
  end subroutine
  subroutine f10() bind(C, name='f10')
    sink = sink + 10
  end subroutine
end module

program mpi_calls
  use mpi
  use calls
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: ierr, rank, ranks, total, k, i, got, node, node_rank, node_size, window, unit
  integer :: status(MPI_STATUS_SIZE)
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  type(c_ptr) :: base
  integer, pointer :: cell

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  do k = 1, 10
    do i = 1, 10 * k + rank
      select case (k)
      case (1); call f1()
      case (2); call f2()
      case (3); call f3()
      case (4); call f4()
      case (5); call f5()
      case (6); call f6()
      case (7); call f7()
      case (8); call f8()
      case (9); call f9()
      case (10); call f10()
      end select
    end do
  end do
  call MPI_Allreduce(10 * (rank + 1), total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 7, got, 1, MPI_INTEGER, &
    mod(rank + ranks - 1, ranks), 7, MPI_COMM_WORLD, status, ierr)
  if (got /= mod(rank + ranks - 1, ranks)) call MPI_Abort(MPI_COMM_WORLD, 99, ierr)
  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, ierr)
  call MPI_Comm_rank(node, node_rank, ierr)
  call MPI_Comm_size(node, node_size, ierr)
  bytes = 4
  call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, node, base, window, ierr)
  call MPI_Win_fence(0, window, ierr)
  call c_f_pointer(base, cell)
  cell = 100 + node_rank
  call MPI_Win_fence(0, window, ierr)
  do i = 0, node_size - 1
    call MPI_Win_shared_query(window, i, bytes, unit, base, ierr)
    call c_f_pointer(base, cell)
    if (cell /= 100 + i) call MPI_Abort(MPI_COMM_WORLD, 98, ierr)
  end do
  call MPI_Win_fence(0, window, ierr)
  call MPI_Win_free(window, ierr)
  if (rank == 0) print '(a,i0,a,i0,a,i0)', 'ranks ', ranks, ' sum ', total, ' node ', node_size
  call MPI_Finalize(ierr)
end program
