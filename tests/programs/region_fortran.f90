! SPDX-License-Identifier: Apache-2.0
! Marks in Fortran: nested, in a recursion, with allocatable arrays; the sum is right only when each
! region ran once.
program region_fortran
  use retally
  implicit none
  real(8), allocatable :: x(:)
  integer :: i

  allocate (x(1000))
  x = 1
  do i = 1, 3
    call retally_begin("outer   ")
    call scale_by(x, 1.5d0)
    call retally_begin("inner")
    x = x + i
    call retally_end("inner")
    call retally_end("outer")
  end do
  call again(4)
  print '(f16.6)', sum(x)

contains

  subroutine scale_by(y, f)
    real(8), intent(inout) :: y(:)
    real(8), intent(in) :: f
    real(8), allocatable :: t(:)
    t = y * f
    y = t
  end subroutine scale_by

  recursive subroutine again(n)
    integer, intent(in) :: n
    call retally_begin("again")
    x(n) = x(n) + n
    if (n > 1) call again(n - 1)
    call retally_end("again")
  end subroutine again
end program region_fortran
