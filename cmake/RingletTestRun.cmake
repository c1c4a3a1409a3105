# What surrounds a run of all tests: a folder for what they make, reports of what did not run, and
# two tests that come last and look at both. Included after all other tests are known.
string(MD5 ringlet_run_name ${PROJECT_BINARY_DIR})
string(SUBSTRING ${ringlet_run_name} 0 8 ringlet_run_name)
set(ringlet_run_reports ${PROJECT_BINARY_DIR}/test_reports)
configure_file(${PROJECT_SOURCE_DIR}/test/run/environment.cmake.in
  ${PROJECT_BINARY_DIR}/test_environment.cmake @ONLY)
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES
  ${PROJECT_BINARY_DIR}/test_environment.cmake)

function(ringlet_tests_below directory result)
  get_property(all DIRECTORY ${directory} PROPERTY TESTS)
  get_property(folders DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(folder ${folders})
    ringlet_tests_below(${folder} more)
    list(APPEND all ${more})
  endforeach()
  set(${result} ${all} PARENT_SCOPE)
endfunction()
ringlet_tests_below(${PROJECT_SOURCE_DIR} ringlet_run_before)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(name leftovers skipped)
  add_test(NAME run.${name} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/test/run/${name}.py)
  set_tests_properties(run.${name} PROPERTIES
    LABELS run RUN_SERIAL ON TIMEOUT 600 SKIP_RETURN_CODE 77 DEPENDS "${ringlet_run_before}")
endforeach()
set_property(TEST run.skipped APPEND PROPERTY DEPENDS run.leftovers)
