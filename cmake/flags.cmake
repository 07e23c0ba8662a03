# Every compiler and linker flag of the project, each with its reason.

# Interface target that each of our own targets links.
add_library(layerstream_flags INTERFACE)

target_compile_options(layerstream_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Werror
  # Same bits everywhere: GCC fuses a*b+c by default, which changes the rounding.
  -ffp-contract=off
  -fno-math-errno
  # Errors are values (base/error.h); nothing is thrown, so no tables for it.
  -fno-exceptions -fno-rtti)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of GCC 12: the empty side of an optional, and std::string + (GCC bug 105651).
  target_compile_options(layerstream_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Clang's -Wconversion contains it, GCC's does not; iterator arithmetic would drown in casts.
  target_compile_options(layerstream_flags INTERFACE -Wno-sign-conversion)
endif()

if(EMSCRIPTEN)
  target_compile_options(layerstream_flags INTERFACE -msimd128)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # SSE4.1 for the native back end of engine/simd; no FMA, see above.
  target_compile_options(layerstream_flags INTERFACE -march=x86-64-v2)
endif()

if(LAYERSTREAM_SANITIZE)
  target_compile_options(layerstream_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(layerstream_flags INTERFACE -fsanitize=address,undefined)
endif()

if(LAYERSTREAM_THREADS)
  target_compile_definitions(layerstream_flags INTERFACE LAYERSTREAM_THREADS=1)
  if(EMSCRIPTEN)
    target_compile_options(layerstream_flags INTERFACE -pthread)
    target_link_options(layerstream_flags INTERFACE -pthread)
  else()
    find_package(Threads REQUIRED)
    target_link_libraries(layerstream_flags INTERFACE Threads::Threads)
  endif()
else()
  target_compile_definitions(layerstream_flags INTERFACE LAYERSTREAM_THREADS=0)
endif()
