/* SPDX-License-Identifier: MIT */
/* The print of a request: enough of it, hashed, to tell whether two are the same. */
#ifndef RETRYBUDGET_TRACK_REQUEST_H
#define RETRYBUDGET_TRACK_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#define REQUEST_BEGIN 4096 /* bytes at the beginning and */
#define REQUEST_END   32   /* at the end that are looked at, no others */

/* The print of a request that begins with these n bytes, the first that the host wrote. Of its
 * first line (at most 128 bytes) and its last 32 bytes; where an empty line ends a header, of those
 * after it. The header lines themselves vary from try to try: a date, a trace id, the number of
 * the try, their order. 0: the bytes tell nothing, as a TLS greeting, which is different each time.
 * Pure. */
uint32_t request_print(const void *data, size_t n);

#endif
