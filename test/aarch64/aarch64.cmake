# Adds the project beside this file to the build of the tests, and its test.
include(ExternalProject)

find_program(RINGLET_AARCH64_CXX aarch64-linux-gnu-g++)
find_program(RINGLET_QEMU_AARCH64 qemu-aarch64)
if(CMAKE_CROSSCOMPILING OR RINGLET_SANITIZE OR NOT RINGLET_AARCH64_CXX OR NOT RINGLET_QEMU_AARCH64
   OR NOT EXISTS /usr/src/googletest OR NOT EXISTS /usr/aarch64-linux-gnu/lib)
  message(STATUS "Tests for AArch64: not built, they need Debian's g++-aarch64-linux-gnu and qemu-user, "
                 "and no sanitizer")
  return()
endif()

ExternalProject_Add(aarch64
  SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR}
  BINARY_DIR ${CMAKE_BINARY_DIR}/aarch64
  CMAKE_ARGS -DCMAKE_TOOLCHAIN_FILE=${CMAKE_CURRENT_LIST_DIR}/toolchain.cmake
  BUILD_ALWAYS ON
  INSTALL_COMMAND "")

# qemu-user has no process_vm_readv, so the tests that read the memory of another process are left out.
# It has no seccomp filters either, so no system call can be denied, and it ignores MADV_POPULATE_READ.
string(JOIN ":" left_out
  ZeroCopyShm.IsFetchedIfAllRanksCanFetchAndNeedTheData ZeroCopyShm.AWithdrawnBufferIsNotRead
  ZeroCopyShm.UnreadableMemoryIsALoss ZeroCopyShm.TheRootOfAFetchedBroadcastWritesPartsOfIt
  ZeroCopyShm.TheRootDoesNotWriteToARankThatHasGivenUp
  ZeroCopyShm.ARankThatGivesUpAwaitsTheRootsWrite PipeLink.AnOfferIsFetched
  PipeLink.AWithdrawnOfferIsNotFetched PipeLink.TakesTheFastestOfThreePathsAfterItHasTriedEach
  PipeLink.ATimeContainsTheAnswerToAnOffer PipeLink.ATimeCountsByTheByte
  PipeLink.TheDelayOfALateReceiverIsNoReasonForAnotherPath
  PipeLink.TheDelayOfALateSenderDoesNotHideTheFastestPath
  PipeLink.TimesAMessageAlthoughOthersFollowIt PipeLink.TriesOtherPathsOnceTheRingHasBeenWritten
  PipeLink.MessagesBelowTheSizeOfAnOfferAreCopied
  ZeroCopyShm.AdaptiveOperationsTakeTheFastestWayWithTheSameResult SharedBuffers.ReadsOnlyFromVerifiedProcesses
  Shm.UsesAnUnnamedFileIfMemfdIsDenied Arena.OneCallMapsThePostsOfAllRanks)
add_test(NAME aarch64.protocols
  COMMAND ${CMAKE_CURRENT_LIST_DIR}/on_one_core.sh ${RINGLET_QEMU_AARCH64} -L /usr/aarch64-linux-gnu
          ${CMAKE_BINARY_DIR}/aarch64/protocols_test --gtest_brief=1 --gtest_filter=-${left_out})
set_tests_properties(aarch64.protocols PROPERTIES TIMEOUT 900)
