# ringlet_compile_by_the_dozen(TARGET BATCH)
#
# With RINGLET_UNITY. GCC looks for garbage whenever its heap has doubled, from 128 MiB on. From 1 GiB on
# the units of the tool take 59 s instead of 69 on two cores, and 1.9 GiB each at most instead of 1.5.
function(ringlet_compile_by_the_dozen target batch)
  if(NOT RINGLET_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  # A class whose members are of types of its own source seems to be one of a header then.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage;--param=ggc-min-heapsize=1048576>")
endfunction()

# ringlet_compile_as_test(TARGET)
#
# For programs whose sources are tests. Most of a compiler's time goes into headers, and into optimizing
# what runs once: so -O1, and with RINGLET_UNITY several sources at once, as those of a library.
function(ringlet_compile_as_test target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-O1>)
  ringlet_compile_by_the_dozen(${target} 20)
endfunction()

set(ringlet_core_folder ${PROJECT_SOURCE_DIR}/src/core)

# ringlet_layer(NAME [DEPENDS layer...] [LINK library...] [TEST_DEPENDS layer...]
#               [QUICK_TO_COMPILE | QUICKEST_TO_COMPILE])
#
# Makes the static library ringlet_NAME of the sources beside the caller (two folders below included),
# and one test program NAME_test of its *_test.cpp. Fuzzers and benchmarks are *_fuzz.cpp, *_bench.cpp.
# A main.cpp or module.cpp is left to an executable or extension of the caller's.
#
# A layer below src/core becomes a part of libringlet.so.0. Its sources see the headers of src/core
# alone. Any other folder of src is a package around the core, and sees the headers of all packages.
# LAYERS in tools/tidy.py is the law that says which layer may include which. DEPENDS only says what to
# link, and TEST_DEPENDS what the tests link too. QUICK_TO_COMPILE is for layers that compile quickly:
# RINGLET_UNITY puts more of their sources into one unit. QUICKEST_TO_COMPILE is for layers without
# loops that matter: -O1 also takes a quarter less time than -O2.
function(ringlet_layer name)
  cmake_parse_arguments(LAYER "QUICK_TO_COMPILE;QUICKEST_TO_COMPILE" ""
    "DEPENDS;LINK;TEST_DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  set(tests ${sources})
  set(fuzzers ${sources})
  set(benchmarks ${sources})
  list(FILTER sources EXCLUDE REGEX "(_(test|fuzz|bench)|/main|/module)\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
  list(FILTER benchmarks INCLUDE REGEX "_bench\\.cpp$")

  add_library(ringlet_${name} STATIC ${sources})
  target_include_directories(ringlet_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src/core ${PROJECT_SOURCE_DIR}/include)
  cmake_path(IS_PREFIX ringlet_core_folder "${CMAKE_CURRENT_SOURCE_DIR}" in_core)
  if(in_core)
    set_property(GLOBAL APPEND PROPERTY RINGLET_LAYERS ${name})
  else()
    target_include_directories(ringlet_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  endif()
  # A new enumerator then does not compile wherever a decision is missing (docs/decisions/0145).
  target_compile_options(ringlet_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wswitch-enum>)
  set(batch 12)
  if(LAYER_QUICK_TO_COMPILE OR LAYER_QUICKEST_TO_COMPILE)
    set(batch 34)
  endif()
  if(LAYER_QUICKEST_TO_COMPILE)
    target_compile_options(ringlet_${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-O1>)
  endif()
  ringlet_compile_by_the_dozen(ringlet_${name} ${batch})
  list(TRANSFORM LAYER_DEPENDS PREPEND ringlet_)
  target_link_libraries(ringlet_${name} PUBLIC ${LAYER_DEPENDS} ${LAYER_LINK} PRIVATE ringlet_flags)

  list(TRANSFORM LAYER_TEST_DEPENDS PREPEND ringlet_)
  if(RINGLET_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE
      ringlet_${name} ${LAYER_TEST_DEPENDS} ringlet_flags GTest::gmock_main)
    ringlet_compile_as_test(${name}_test)
    # A compiler cache may make __FILE__ relative to this folder, by which some tests find fixtures.
    add_test(NAME unit.${name} COMMAND ${name}_test WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(unit.${name} PROPERTIES TIMEOUT 600)
  endif()
  if(RINGLET_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      add_executable(${target} ${fuzzer})
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
      target_link_libraries(${target} PRIVATE ringlet_${name} ${LAYER_TEST_DEPENDS} ringlet_flags)
    endforeach()
  endif()
  if(RINGLET_BENCHMARKS AND benchmarks)
    find_package(benchmark REQUIRED)
    add_executable(${name}_bench ${benchmarks})
    target_link_libraries(${name}_bench PRIVATE ringlet_${name} ${LAYER_TEST_DEPENDS} ringlet_flags benchmark::benchmark_main)
  endif()
endfunction()
