! SPDX-License-Identifier: Apache-2.0
!
! Marks for retally in Fortran: the same as include/retally.h, see there and docs/regions.md.
!
!   use retally
!   call retally_begin("solve")
!   ...
!   call retally_end("solve")
!
! Compile this file with the program; no library is needed. Trailing blanks of a name do not count.
! Without retally a mark is one test of a flag.
module retally
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: retally_begin, retally_end

  abstract interface
    subroutine mark(name) bind(C)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine mark
  end interface
  interface
    ! Of the C library: whoever preloaded a function of this name.
    function find_symbol(handle, name) bind(C, name="dlsym") result(address)
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function find_symbol
  end interface

  ! Looked up once; two threads that do it at the same time find the same.
  logical, save, volatile :: looked = .false.
  type(c_funptr), save :: first = c_null_funptr, last = c_null_funptr

contains

  subroutine retally_begin(name)
    character(len=*), intent(in) :: name
    if (.not. looked) call look
    if (c_associated(first)) call pass_on(first, name)
  end subroutine retally_begin

  subroutine retally_end(name)
    character(len=*), intent(in) :: name
    if (.not. looked) call look
    if (c_associated(last)) call pass_on(last, name)
  end subroutine retally_end

  subroutine look
    first = find_symbol(c_null_ptr, "retally_region_begin" // c_null_char)
    last = find_symbol(c_null_ptr, "retally_region_end" // c_null_char)
    looked = .true.
  end subroutine look

  ! The name on the stack: no allocation inside a region that counts them.
  subroutine pass_on(address, name)
    type(c_funptr), intent(in) :: address
    character(len=*), intent(in) :: name
    procedure(mark), pointer :: call_it
    character(kind=c_char) :: text(len(name) + 1)
    integer :: i, n
    n = len_trim(name)
    do i = 1, n
      text(i) = name(i:i)
    end do
    text(n + 1) = c_null_char
    call c_f_procpointer(address, call_it)
    call call_it(text)
  end subroutine pass_on
end module retally
