/* For programs of nccl.h that continue without lost ranks.
 *
 *     if (ncclAllReduce(...) == ncclRemoteError) ringletCommReform(comm, 1, &rest);
 *
 * docs/howto/continue-without-lost-ranks.md gives the full procedure.
 *
 * C99 and C++17; needs no other header.
 */
#ifndef RINGLET_ERRORS_H_
#define RINGLET_ERRORS_H_

#if defined(__GNUC__)
#define RINGLET_ERRORS_API __attribute__((visibility("default")))
#else
#define RINGLET_ERRORS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the rank that is lost or has left according to the last error of the calling thread, in
 * the numbers of the communicator that was passed to the failed call. It is the caller's own rank
 * if the others have lost the caller. Returns -1 if there was no error, or if the error does not
 * name such a rank. A call that succeeds does not change the value. */
RINGLET_ERRORS_API int ringletLastLostRank(void);

struct ncclComm; /* of nccl.h: ncclComm_t is a pointer to it */

/* Forms a communicator of the ranks of `comm` that are not lost, in their order. `comm` has failed,
 * and stays failed. All remaining ranks call this function. They agree on the lost ranks, even if
 * more ranks die meanwhile or if they have learned of different lost ranks, and use the connections
 * that they have. The call blocks as ncclCommShrink does, and `newcomm` has the options of `comm`.
 *
 * A rank can die when some ranks have `newcomm` and others still form it. Operations of `newcomm`
 * then fail. The ranks that have it reform it, and meet the others.
 *
 * minRanks  if fewer ranks remain, the call fails on all of them; the same on all ranks. A program
 *           that must not continue on both sides of a divided network passes more than half of the
 *           number of its ranks.
 * Returns the value of an ncclResult_t. Errors
 *   ncclInvalidArgument  minRanks is not positive; `comm` has not failed; too few ranks remain
 *   ncclRemoteError      the other ranks have lost this one and continue without it
 *   else as ncclCommShrink
 * Cost: that of ncclCommShrink, and again for each set of lost ranks that some do not know. */
RINGLET_ERRORS_API int ringletCommReform(struct ncclComm* comm, int minRanks,
                                         struct ncclComm** newcomm);

#ifdef __cplusplus
}
#endif

#endif /* RINGLET_ERRORS_H_ */
