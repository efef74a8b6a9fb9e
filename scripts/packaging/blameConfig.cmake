# find_package(blame) gives
#   blame::blame            an interface target: the folder of blame.h; nothing to link
#   blame_FORTRAN_SOURCE    blame.F90, to be compiled with the program
#   blame_EXECUTABLE        the command: COMMAND ${blame_EXECUTABLE} run $<TARGET_FILE:app>
#   blame_TOOL              libblame.so, for OMP_TOOL_LIBRARIES
# The last two are ...-NOTFOUND where only the header is installed.
get_filename_component(_blame_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET blame::blame)
    add_library(blame::blame INTERFACE IMPORTED)
    set_target_properties(blame::blame PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_blame_prefix}/include")
endif()
set(blame_FORTRAN_SOURCE "${_blame_prefix}/include/blame.F90")
set(blame_EXECUTABLE "${_blame_prefix}/bin/blame")
set(blame_TOOL "${_blame_prefix}/lib/blame/libblame.so")
foreach(_blame_file blame_EXECUTABLE blame_TOOL)
    if(NOT EXISTS "${${_blame_file}}")
        set(${_blame_file} "${_blame_file}-NOTFOUND")
    endif()
endforeach()
unset(_blame_file)
unset(_blame_prefix)
