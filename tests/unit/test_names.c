/* SPDX-License-Identifier: MIT */
/* Names and addresses: several of each for one of the other, what makes room, and races. */
#include "track_fixture.h"

#include "budget/backoff.h"
#include "dest/names.h"

#include <stdio.h>

TestSuite(names, .init = start_shim);

static struct sockaddr_in number(uint32_t host)
{
	return (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(host) };
}

static uint64_t key_of(uint32_t host)
{
	struct sockaddr_in in = number(host);
	struct address address;

	cr_assert(address_read(&address, (struct sockaddr *)&in, sizeof(in)));
	return address_hash(&address);
}

static void learn(const char *name, uint32_t host)
{
	struct sockaddr_in in = number(host);

	names_bind(names_note(name), (struct sockaddr *)&in, sizeof(in), monotonic());
}

/* As a program whose lookups are made by other threads. */
static void learn_apart(const char *name, uint32_t host)
{
	uint64_t mine = thread_facts.looked_up;

	learn(name, host);
	thread_facts.looked_up = mine;
}

/* The name of a connect to the address, "" if it has none. */
static const char *name_at(uint32_t host, int64_t later)
{
	static char text[NAME_MAX_LEN + 1];
	struct name_hit hit;

	*text = '\0';
	if (names_find(key_of(host), monotonic() + later, &hit))
		cr_assert(name_text(hit.hash, text));
	return text;
}

static uint32_t place_of(uint32_t host)
{
	struct name_hit hit;

	return names_find(key_of(host), monotonic(), &hit) ? hit.place : 0;
}

#define SERVER 0x0a010005
#define SETS   256 /* of bindings (dest/names.c) */

Test(names, of_one_address_are_told_apart_by_who_asked)
{
	uint32_t one, two;

	learn("one.test", SERVER);
	cr_assert_str_eq(name_at(SERVER, 0), "one.test");
	one = place_of(SERVER);
	learn("two.test", SERVER);
	cr_assert_str_eq(name_at(SERVER, 0), "two.test");
	two = place_of(SERVER);
	cr_assert_neq(one, two, "each has a state of its own");
	learn_apart("three.test", SERVER);
	cr_assert_str_eq(name_at(SERVER, 0), "two.test", "what this thread asked for");
	learn("one.test", SERVER);
	cr_assert_str_eq(name_at(SERVER, 0), "one.test");
	cr_assert_eq(place_of(SERVER), one);
	names_failed(one, monotonic());
	learn("two.test", SERVER);
	struct name_hit hit;
	cr_assert(names_find(key_of(SERVER), monotonic(), &hit));
	cr_assert(hit.untried, "the other name of a bad address has not failed");
}

/* Node, asyncio: answers come on pool threads, and each is followed by its connect. */
Test(names, of_answers_on_other_threads_go_in_their_order)
{
	learn_apart("one.test", SERVER);
	learn_apart("two.test", SERVER);
	learn_apart("three.test", SERVER);
	cr_assert_str_eq(name_at(SERVER, 0), "one.test");
	cr_assert_str_eq(name_at(SERVER, 0), "two.test");
	cr_assert_str_eq(name_at(SERVER, 0), "three.test");
	cr_assert_str_eq(name_at(SERVER, 0), "three.test", "none is waiting: the newest");
	learn_apart("one.test", SERVER);
	cr_assert_str_eq(name_at(SERVER, 2 * NS_PER_S), "one.test");
	learn_apart("two.test", SERVER);
	learn_apart("three.test", SERVER);
	cr_assert_str_eq(name_at(SERVER, 2 * NS_PER_S), "three.test",
	                 "an answer that nobody followed up is not waited for");
}

Test(names, are_kept_for_hours)
{
	learn("db.test", SERVER);
	cr_assert_str_eq(name_at(SERVER, 5 * 3600 * NS_PER_S), "db.test");
}

/* Fifty thousand other addresses are looked up; ours is connected to from time to time. */
static void crawl(bool in_use)
{
	char name[64];

	for (uint32_t i = 0; i < 50000; i++) {
		snprintf(name, sizeof(name), "host%u.crawl.test", i);
		learn_apart(name, 0x0b000000 + i);
		if (in_use && i % 100 == 0)
			cr_assert_str_eq(name_at(SERVER, 0), "db.test", "after %u", i);
	}
}

Test(names, in_use_outlive_a_crawl)
{
	learn("db.test", SERVER);
	crawl(true);
	cr_assert_str_eq(name_at(SERVER, 0), "db.test");
}

/* Losing it would give its storm the fresh budget of a number. */
Test(names, of_failing_addresses_outlive_a_crawl)
{
	char text[NAME_MAX_LEN + 1];
	struct name_hit hit;

	learn("db.test", SERVER);
	names_failed(place_of(SERVER), monotonic() + 30 * NS_PER_S); /* however slow the crawl */
	crawl(false);
	cr_assert(names_find(key_of(SERVER), monotonic(), &hit));
	cr_assert_eq(hit.hash, name_normal("db.test", text));
	cr_assert_not(hit.untried);
}

/* What is forgotten is the number again until it is looked up, and then what it was before. */
Test(names, out_of_use_make_room)
{
	struct address address = { .port = 5432 };
	struct sockaddr_in in = number(SERVER);
	struct destination *before;
	struct name_hit hit;

	cr_assert(address_read(&address, (struct sockaddr *)&in, sizeof(in)));
	learn("db.test", SERVER);
	before = destination_of(&address, &hit, monotonic());
	crawl(false);
	cr_assert_str_eq(name_at(SERVER, 0), "");
	cr_assert_neq(destination_of(&address, &hit, monotonic()), before);
	learn("db.test", SERVER);
	cr_assert_eq(destination_of(&address, &hit, monotonic()), before);
}

/* The n-th address that shares its set of the table with our server. */
static uint32_t neighbour(int n)
{
	uint32_t host = 0x0c000000;

	do
		while (key_of(++host) % SETS != key_of(SERVER) % SETS)
			;
	while (n--);
	return host;
}

/* A server of very many names leaves the other addresses of its set alone. */
Test(names, of_one_address_do_not_push_out_others)
{
	char name[64];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "host%d.test", i);
		learn_apart(name, neighbour(i));
	}
	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "site%u.test", i);
		learn_apart(name, SERVER);
	}
	for (int i = 0; i < 4; i++)
		cr_expect_neq(place_of(neighbour(i)), 0, "%d", i);
	learn("site1.test", SERVER);
	cr_expect_str_eq(name_at(SERVER, 0), "site1.test");
}

Test(names, of_numbers_are_none)
{
	static const char *const numbers[] = { "127.0.0.1",  "127.1", "0x7f000001",
		                               "2130706433", "::1",   "fe80::1%lo" };
	static const char *const others[] = { "db", "1.example", "10.0.0.1.example", "x27" };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		cr_expect(name_is_number(numbers[i]), "%s", numbers[i]);
		cr_expect_eq(names_note(numbers[i]), 0, "%s", numbers[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect_not(name_is_number(others[i]), "%s", others[i]);
}

Test(names, of_a_link_hold_for_every_scope)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct address address;
	struct name_hit hit;

	inet_pton(AF_INET6, "fe80::1", &in6.sin6_addr);
	names_bind(names_note("printer.test"), (struct sockaddr *)&in6, sizeof(in6), monotonic());
	in6.sin6_scope_id = 2;
	in6.sin6_port = htons(631);
	cr_assert(address_read(&address, (struct sockaddr *)&in6, sizeof(in6)));
	cr_assert_str_eq(destination_of(&address, &hit, monotonic())->name, "printer.test:631");
	cr_assert_neq(hit.place, 0);
}

Test(names, of_mapped_addresses_are_those_of_ipv4)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	inet_pton(AF_INET6, "::ffff:10.1.0.5", &in6.sin6_addr);
	names_bind(names_note("db.test"), (struct sockaddr *)&in6, sizeof(in6), monotonic());
	cr_assert_str_eq(name_at(SERVER, 0), "db.test");
}

Test(names, come_from_host_entries_too)
{
	uint32_t addresses[2] = { htonl(SERVER), htonl(SERVER + 1) };
	char *list[] = { (char *)&addresses[0], (char *)&addresses[1], NULL };
	struct hostent host = { .h_addrtype = AF_INET, .h_length = 4, .h_addr_list = list };

	names_learn_host("DB.test", &host);
	cr_assert_str_eq(name_at(SERVER, 0), "db.test");
	cr_assert_str_eq(name_at(SERVER + 1, 0), "db.test");
	host.h_length = 16; /* not what the family says */
	names_learn_host("odd.test", &host);
	cr_assert_str_eq(name_at(SERVER, 0), "db.test");
}

#define CROWD 24 /* in a set of eight */

static uint32_t crowd[CROWD];

static void name_of_crowd(char *name, size_t size, uint64_t n)
{
	snprintf(name, size, "a-name-of-some-length-for-host-%u.test", (unsigned int)n);
}

/* Each thread binds and finds names at addresses that all collide: host N is only ever nameN, so a
 * name and an address of different moments would be seen. */
static void *scramble(void *mixed)
{
	uint64_t state = (uint64_t)(uintptr_t)pthread_self(), n;
	char name[64], text[NAME_MAX_LEN + 1];
	struct name_hit hit;

	for (int i = 0; i < 60000; i++) {
		n = random_next(&state) % CROWD;
		name_of_crowd(name, sizeof(name), n);
		learn(name, crowd[n]);
		n = random_next(&state) % CROWD;
		name_of_crowd(name, sizeof(name), n);
		if (!names_find(key_of(crowd[n]), monotonic(), &hit))
			continue;
		if (hit.hash != name_normal(name, text) ||
		    (name_text(hit.hash, text) && strcmp(text, name) != 0))
			atomic_fetch_add((_Atomic(int) *)mixed, 1);
		names_failed(hit.place, 1);
		names_answered(hit.place);
	}
	return NULL;
}

Test(names, of_racing_threads_are_never_mixed, .timeout = 120)
{
	_Atomic(int) mixed = 0;
	pthread_t threads[4];

	for (int i = 0; i < CROWD; i++)
		crowd[i] = neighbour(i);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, scramble, &mixed);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(mixed, 0, "%d", (int)mixed);
}
