// SPDX-License-Identifier: MIT
/* The table of names: any bytes as names, bound to addresses, looked for, made to fail. */
#include "sys/real.h"
#include "dest/names.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *at;
static size_t left;

static unsigned int byte(void)
{
	return left > 0 ? (left--, *at++) : 0;
}

static void any_name(char out[300])
{
	size_t n = byte() * 2, take = n < left ? n : left;

	take = take < 299 ? take : 299;
	memcpy(out, at, take);
	out[take] = '\0';
	at += take;
	left -= take;
}

/* What is normal stays as it is, but for a second dot at its end, which no name has. */
static void check_normal(const char *name)
{
	char normal[NAME_MAX_LEN + 1], again[NAME_MAX_LEN + 1];
	uint64_t hash = name_normal(name, normal);

	if (hash == 0)
		return;
	if (strlen(normal) > NAME_MAX_LEN)
		abort();
	if (normal[strlen(normal) - 1] != '.' &&
	    (name_normal(normal, again) != hash || strcmp(normal, again) != 0))
		abort();
}

static struct sockaddr_in6 any_address(void)
{
	struct sockaddr_in6 to = { .sin6_family = AF_INET6 };

	if (byte() & 1) {
		struct sockaddr_in v4 = { .sin_family = AF_INET };

		v4.sin_addr.s_addr = htonl(0x0a000000 | (byte() & 31));
		memcpy(&to, &v4, sizeof(v4));
		return to;
	}
	to.sin6_addr.s6_addr[0] = 0xfe;
	to.sin6_addr.s6_addr[15] = (uint8_t)(byte() & 31);
	to.sin6_scope_id = byte() & 3;
	return to;
}

static void bind_one(const char *name, int64_t now)
{
	struct sockaddr_in6 to = any_address();
	struct addrinfo answer = { .ai_family = to.sin6_family,
		                   .ai_addr = (struct sockaddr *)&to,
		                   .ai_addrlen = sizeof(to) };

	if (byte() & 1)
		names_learn(name, &answer);
	else
		names_bind(names_note(name), (struct sockaddr *)&to, byte() % (sizeof(to) + 1),
		           now);
}

static void find_one(int64_t now)
{
	struct sockaddr_in6 to = any_address();
	struct address address;
	struct name_hit hit = { 0 };
	char text[NAME_MAX_LEN + 1], normal[NAME_MAX_LEN + 1];

	if (!address_read(&address, (struct sockaddr *)&to, sizeof(to)) ||
	    !names_find(address_hash(&address), now, &hit))
		return;
	if (hit.place == 0 || hit.place > 4095)
		abort();
	memset(text, 'x', sizeof(text));
	if (name_text(hit.hash, text) &&
	    (memchr(text, 0, sizeof(text)) == NULL ||
	     (text[strlen(text) - 1] != '.' && name_normal(text, normal) != hit.hash)))
		abort();
	if (byte() & 1)
		names_failed(hit.place, now);
	else
		names_answered(hit.place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int64_t now = 1000000000;
	char name[300];

	at = data;
	left = size;
	while (left > 0) {
		now += byte() * INT64_C(10000000);
		switch (byte() % 3) {
		case 0:
			any_name(name);
			check_normal(name);
			(void)name_is_number(name);
			bind_one(name, now);
			break;
		case 1:
			find_one(now);
			break;
		default:
			names_failed(byte() << 8 | byte(), now);
		}
	}
	return 0;
}
