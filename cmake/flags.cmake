# Every compiler and linker flag of the project, each with its reason.

# What programs of one build may differ in; the options are the defaults.
define_property(TARGET PROPERTY LAYERSTREAM_THREADS INITIALIZE_FROM_VARIABLE LAYERSTREAM_THREADS)
define_property(TARGET PROPERTY LAYERSTREAM_RELAXED_SIMD INITIALIZE_FROM_VARIABLE LAYERSTREAM_RELAXED_SIMD)

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
  # SSE4.1 for the native back end of engine/simd, in AVX's encoding: where the upper halves of registers are in use (they are in
  # new threads), instructions of the old one wait for each other on AMD's processors, and a second thread gains nothing.
  # No FMA, see above.
  set(LAYERSTREAM_NATIVE_ARCH -march=x86-64-v2 -mavx)
  target_compile_options(layerstream_flags INTERFACE ${LAYERSTREAM_NATIVE_ARCH})
endif()

if(LAYERSTREAM_SANITIZE)
  target_compile_options(layerstream_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(layerstream_flags INTERFACE -fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Points-to analysis is a quarter of the time to compile the checked kernels, and makes no test faster.
    target_compile_options(layerstream_flags INTERFACE -fno-tree-pta)
  endif()
endif()

# Only what is compiled with -pthread may use atomics in a wasm program with threads; the linker refuses others (docs/decisions/0005).
if(EMSCRIPTEN)
  set(threaded $<BOOL:$<TARGET_PROPERTY:LAYERSTREAM_THREADS>>)
  target_compile_options(layerstream_flags INTERFACE $<${threaded}:-pthread>)
  target_link_options(layerstream_flags INTERFACE $<${threaded}:-pthread>)
elseif(LAYERSTREAM_THREADS)
  find_package(Threads REQUIRED)
  target_link_libraries(layerstream_flags INTERFACE Threads::Threads)
endif()
