/* SPDX-License-Identifier: MIT */
/*
 * What the name servers of the tests know. Every name has the address 127.0.0.1 and no other,
 * unless its first label says how it is answered: "servfail", "nxdomain", "refused" and "formerr"
 * with that code, "silent" not at all, "nodata" with nothing of any type; "six" has ::1 too,
 * "three" has 127.0.0.1 to 127.0.0.3; "alias" is a CNAME for the rest of the name, with the answer
 * to that.
 */
#ifndef RETRYBUDGET_TESTS_CLIENTS_ZONE_H
#define RETRYBUDGET_TESTS_CLIENTS_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
	ZONE_OK = 0,
	ZONE_FORMERR = 1,
	ZONE_SERVFAIL = 2,
	ZONE_NXDOMAIN = 3,
	ZONE_REFUSED = 5,
	ZONE_SILENT = -1,
	ZONE_NODATA = 256, /* well, but with nothing in it */
};

enum { ZONE_A = 1, ZONE_CNAME = 5, ZONE_AAAA = 28 };

static inline bool zone_label_is(const unsigned char *label, const char *word)
{
	return *label == strlen(word) && memcmp(label + 1, word, *label) == 0;
}

/* Appends one record whose owner stands at `owner` in the packet; false if there is no room. */
static inline bool zone_add(unsigned char *packet, size_t *end, size_t room, size_t owner, int type,
                            const void *data, size_t n)
{
	unsigned char head[12] = { (unsigned char)(0xc0 | owner >> 8),
		                   (unsigned char)owner,
		                   0,
		                   (unsigned char)type,
		                   0,
		                   1 };

	head[11] = (unsigned char)n;
	if (*end + sizeof(head) + n > room)
		return false;
	memcpy(packet + *end, head, sizeof(head));
	memcpy(packet + *end + sizeof(head), data, n);
	*end += sizeof(head) + n;
	packet[7]++;
	return true;
}

/* Turns a query into its answer in place. code: how all names are answered, or ZONE_OK. Returns the
 * length to send, 0 to say nothing; *type is the type that was asked for, 0 if that was no query.
 */
static inline size_t zone_answer(unsigned char *packet, size_t length, size_t room, int code,
                                 int *type)
{
	unsigned char address[4] = { 127, 0, 0, 1 }, loopback6[16] = { [15] = 1 };
	const unsigned char *label = packet + 12;
	size_t end = 12, owner = 12;
	int addresses = 1;
	bool six = false;

	*type = 0;
	while (end < length && packet[end])
		end += packet[end] + 1u;
	end += 5; /* the root label, type, class */
	if (end > length)
		return 0;
	*type = packet[end - 4] << 8 | packet[end - 3];
	if (code == ZONE_OK && zone_label_is(label, "servfail"))
		code = ZONE_SERVFAIL;
	else if (code == ZONE_OK && zone_label_is(label, "nxdomain"))
		code = ZONE_NXDOMAIN;
	else if (code == ZONE_OK && zone_label_is(label, "refused"))
		code = ZONE_REFUSED;
	else if (code == ZONE_OK && zone_label_is(label, "formerr"))
		code = ZONE_FORMERR;
	else if (zone_label_is(label, "silent"))
		code = ZONE_SILENT;
	else if (code == ZONE_NODATA || zone_label_is(label, "nodata"))
		addresses = 0;
	else if (zone_label_is(label, "six"))
		six = true;
	else if (zone_label_is(label, "three"))
		addresses = 3;
	if (code < 0)
		return 0;
	if (code == ZONE_NODATA)
		code = ZONE_OK;
	packet[2] = 0x84 | (packet[2] & 1); /* answer, authoritative, recursion as asked for */
	packet[3] = (unsigned char)(0x80 | code);
	memset(packet + 6, 0, 6); /* no records; an EDNS record of the query is not repeated */
	if (code != ZONE_OK)
		return end;
	if (zone_label_is(label, "alias") && (*type == ZONE_A || *type == ZONE_CNAME)) {
		unsigned char rest[2] = { 0xc0, (unsigned char)(12 + 1 + *label) };

		zone_add(packet, &end, room, owner, ZONE_CNAME, rest, sizeof(rest));
		owner += 1u + *label;
	}
	for (; *type == ZONE_A && addresses > 0; addresses--, address[3]++)
		zone_add(packet, &end, room, owner, ZONE_A, address, sizeof(address));
	if (*type == ZONE_AAAA && six)
		zone_add(packet, &end, room, owner, ZONE_AAAA, loopback6, sizeof(loopback6));
	return end;
}

#endif
