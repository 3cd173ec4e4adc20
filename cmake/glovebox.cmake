# The build's own words. Every flag lives in two interface targets; every edge between layers is a
# DEPENDS of glovebox_library(), so the build files are the architecture diagram.
include(GoogleTest)

add_library(glovebox_warnings INTERFACE)
target_compile_options(glovebox_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough -Wformat=2 -Wundef -Wvla -fno-omit-frame-pointer
  $<$<BOOL:${GLOVEBOX_WERROR}>:-Werror>)

# Sanitizers instrument the server and its tests, never the box or the zygote.
add_library(glovebox_sanitize INTERFACE)
if(GLOVEBOX_SANITIZE)
  target_compile_options(glovebox_sanitize INTERFACE
    -fsanitize=${GLOVEBOX_SANITIZE} -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  target_link_options(glovebox_sanitize INTERFACE
    -fsanitize=${GLOVEBOX_SANITIZE} $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
endif()

add_library(glovebox_hardening INTERFACE)
if(GLOVEBOX_HARDEN)
  target_compile_options(glovebox_hardening INTERFACE
    -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection -D_GLIBCXX_ASSERTIONS
    $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-fcf-protection=full>)
  target_link_options(glovebox_hardening INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()

# glovebox_library(name [AFTER_FORK] [UNSANITIZED] SOURCES ... [DEPENDS ...])
#   AFTER_FORK: code that runs between fork and exec, or in the box. No sanitizer, no exceptions, no
#   RTTI; its imports are checked against an allow-list after every build.
#   UNSANITIZED: linked into the zygote, which is never instrumented.
function(glovebox_library name)
  cmake_parse_arguments(arg "AFTER_FORK;UNSANITIZED" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(${name} PUBLIC ${arg_DEPENDS} PRIVATE glovebox_warnings glovebox_hardening)
  if(arg_AFTER_FORK)
    target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/dev/check_child_symbols.py
              $<TARGET_FILE:${name}>
      VERBATIM)
  elseif(NOT arg_UNSANITIZED)
    target_link_libraries(${name} PUBLIC glovebox_sanitize)
  endif()
endfunction()

# What only tests run need not be fast, and compiles in half the time.
add_library(glovebox_test_code INTERFACE)
target_compile_options(glovebox_test_code INTERFACE $<$<CONFIG:RelWithDebInfo>:-O0 -g1>)

# GoogleTest's headers are a third of what compiling a test takes, so they are read once. Not where
# a cache stands before the compiler: it goes by what is read, and a precompiled header changes.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/generated/test_headers.cc
    CONTENT "int main() { return 0; }\n")
  add_executable(test_headers ${PROJECT_BINARY_DIR}/generated/test_headers.cc)
  target_link_libraries(test_headers PRIVATE GTest::gmock glovebox_warnings glovebox_sanitize
    glovebox_test_code)
  target_precompile_headers(test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
endif()

# glovebox_test(name SOURCES ... DEPENDS ... [LABEL unit] [TIMEOUT seconds]): one binary per folder.
function(glovebox_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;DEPENDS" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} GTest::gmock GTest::gtest_main
    glovebox_warnings glovebox_sanitize glovebox_test_code)
  if(TARGET test_headers)
    target_precompile_headers(${name} REUSE_FROM test_headers)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT})
endfunction()
