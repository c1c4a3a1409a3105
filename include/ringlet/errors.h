/* The lost rank that an error names, for programs of nccl.h that continue without it.
 *
 *     if (ncclAllReduce(...) == ncclRemoteError) {
 *       int lost = ringletLastLostRank();
 *       if (lost >= 0) ncclCommShrink(comm, &lost, 1, &rest, NULL, NCCL_SHRINK_ABORT);
 *     }
 *
 * docs/howto/continue-without-lost-ranks.md describes what to do if more ranks die meanwhile.
 *
 * C99 and C++17; needs no other header.
 */
#ifndef RINGLET_ERRORS_H_
#define RINGLET_ERRORS_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the rank that is lost or has left according to the last error of the calling thread, in
 * the numbers of the communicator that was passed to the failed call. It is the caller's own rank
 * if the others have lost the caller. Returns -1 if there was no error, or if the error does not
 * name such a rank. A call that succeeds does not change the value. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int ringletLastLostRank(void);

#ifdef __cplusplus
}
#endif

#endif /* RINGLET_ERRORS_H_ */
