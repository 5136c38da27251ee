/* SPDX-License-Identifier: MIT */
/* Many addresses of one network. */
#ifndef ADDRESSES_H
#define ADDRESSES_H

#include "dest/address.h"

/* 10.n, port 80. n: 0 to 2^24 - 1 */
static inline struct address numbered(int n)
{
	struct address address = { .port = 80 };

	address.bytes[10] = address.bytes[11] = 0xff;
	address.bytes[12] = 10;
	address.bytes[13] = (uint8_t)(n >> 16);
	address.bytes[14] = (uint8_t)(n >> 8);
	address.bytes[15] = (uint8_t)n;
	return address;
}

#endif
