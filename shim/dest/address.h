/* SPDX-License-Identifier: MIT */
/* Socket addresses in one normal form: IPv4 and IPv4-mapped IPv6 are the same address. */
#ifndef RETRYBUDGET_DEST_ADDRESS_H
#define RETRYBUDGET_DEST_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

struct address {
	uint8_t bytes[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint32_t scope;    /* of a link-local address */
	uint16_t port;     /* host byte order */
	bool is_unix;
	bool
	    is_datagram; /* of requests by UDP, which share no budget with TCP; set by the caller */
	const char *path; /* unix: the bytes in the caller's sockaddr; a leading NUL is abstract */
	size_t path_len;
};

/* Reads a sockaddr. False for anything but a complete inet, inet6 or named unix address, and for
 * the services of the system that are never judged: the log socket, nscd, D-Bus, uuidd, those of
 * NSS modules. libc asks them on its own account, and a program cannot take their refusal. */
bool address_read(struct address *address, const struct sockaddr *from, socklen_t len);

/* Mixes a whole word into a hash, as to add a port. Another rule than that of hash_bytes(). */
static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 32;
}

/* A hash of address bytes and scope, by words: on the path of every connect. inet only. */
static inline uint64_t address_hash(const struct address *address)
{
	uint64_t words[2], hash;

	memcpy(words, address->bytes, sizeof(words));
	hash = hash_word(hash_word(hash_word(0, words[0]), words[1]), address->scope);
	return hash ? hash : 1;
}

#endif
