/* SPDX-License-Identifier: MIT */
/* Names, addresses and the slots they lead to. */
#include "dest/destinations.h"

#include "config/keys.h"
#include "region/state.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/un.h>

static struct config config;

static void set_up(void)
{
	config_defaults(&config);
	shim_region = mmap(NULL, sizeof(*shim_region), PROT_READ | PROT_WRITE,
	                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(shim_region, MAP_FAILED);
	shim_use(shim_region, 0);
}

TestSuite(destinations, .init = set_up);

static struct address inet(const char *host, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct address address;

	if (inet_pton(AF_INET, host, &in.sin_addr) == 1)
		cr_assert(address_read(&address, (struct sockaddr *)&in, sizeof(in)));
	else {
		cr_assert_eq(inet_pton(AF_INET6, host, &in6.sin6_addr), 1);
		if (strncmp(host, "fe80", 4) == 0)
			in6.sin6_scope_id = 2;
		cr_assert(address_read(&address, (struct sockaddr *)&in6, sizeof(in6)));
	}
	return address;
}

static void learn(const char *name, const char *const *hosts)
{
	struct sockaddr_in in[8];
	struct addrinfo list[8];
	int n = 0;

	for (; hosts[n]; n++) {
		in[n] = (struct sockaddr_in) { .sin_family = AF_INET };
		inet_pton(AF_INET, hosts[n], &in[n].sin_addr);
		list[n] = (struct addrinfo) { .ai_addr = (struct sockaddr *)&in[n],
			                      .ai_addrlen = sizeof(in[n]) };
		if (n)
			list[n - 1].ai_next = &list[n];
	}
	names_learn(name, list);
}

static int64_t now = 1;

static const char *name_of(const char *host, uint16_t port, struct name_hit *hit)
{
	struct address address = inet(host, port);

	return destination_of(&address, hit, now += NS_PER_MS)->name;
}

Test(destinations, are_named_by_address_without_a_lookup)
{
	struct name_hit hit;

	cr_assert_str_eq(name_of("10.1.0.5", 5432, &hit), "10.1.0.5:5432");
	cr_assert_eq(hit.place, 0);
	cr_assert_str_eq(name_of("2001:db8::1", 80, &hit), "[2001:db8::1]:80");
	cr_assert_str_eq(name_of("::ffff:10.1.0.5", 5432, &hit), "10.1.0.5:5432");
	cr_assert_str_eq(name_of("fe80::1", 80, &hit), "[fe80::1%2]:80");
}

/* Readers from outside look at no others. */
Test(destinations, slots_in_use_have_a_key)
{
	struct address address = inet("10.1.0.5", 5432);
	struct name_hit hit;
	uint32_t slot = destination_slot(destination_of(&address, &hit, ++now));

	for (uint32_t i = 0; i < REGION_CHUNK; i++)
		cr_expect_eq(shim_region->first.keys[i] != 0, i == slot);
}

Test(destinations, are_named_as_the_host_asked)
{
	struct name_hit hit;
	uint32_t bad;

	learn("DB.Internal.", (const char *const[]) { "10.1.0.5", "10.1.0.6", NULL });
	cr_assert_str_eq(name_of("10.1.0.5", 5432, &hit), "db.internal:5432");
	cr_assert(hit.untried);
	bad = hit.place;
	cr_assert_str_eq(name_of("10.1.0.6", 5432, &hit), "db.internal:5432");
	cr_assert_neq(hit.place, bad, "another address of the same name");
	names_failed(bad, now);
	name_of("10.1.0.6", 5432, &hit);
	cr_assert(hit.untried);
	name_of("10.1.0.5", 5432, &hit);
	cr_assert_not(hit.untried);
	learn("db.internal", (const char *const[]) { "10.1.0.5", NULL });
	name_of("10.1.0.5", 5432, &hit);
	cr_assert_not(hit.untried, "looking it up again makes it no better");
	names_answered(bad);
	name_of("10.1.0.5", 5432, &hit);
	cr_assert(hit.untried);
	names_failed(bad, now);
	now += 61 * NS_PER_S;
	name_of("10.1.0.5", 5432, &hit);
	cr_assert(hit.untried, "forgotten");
	cr_assert_str_eq(name_of("10.1.0.5", 80, &hit), "db.internal:80");
}

Test(destinations, the_newest_name_of_an_address_wins)
{
	struct name_hit hit;

	learn("a.example", (const char *const[]) { "10.0.0.1", NULL });
	learn("b.example", (const char *const[]) { "10.0.0.1", NULL });
	cr_assert_str_eq(name_of("10.0.0.1", 80, &hit), "b.example:80");
	learn("10.0.0.1", (const char *const[]) { "10.0.0.1", NULL });
	cr_assert_str_eq(name_of("10.0.0.1", 80, &hit), "b.example:80", "a number is no name");
}

Test(destinations, names_of_any_length_are_kept_or_left_never_cut)
{
	char name[400];
	struct name_hit hit;

	memset(name, 'x', sizeof(name));
	name[NAME_MAX_LEN] = '\0';
	learn(name, (const char *const[]) { "10.0.0.2", NULL });
	cr_assert_eq(strlen(name_of("10.0.0.2", 80, &hit)), NAME_MAX_LEN + 3);
	name[NAME_MAX_LEN] = 'x';
	name[NAME_MAX_LEN + 1] = '\0';
	learn(name, (const char *const[]) { "10.0.0.3", NULL });
	cr_assert_str_eq(name_of("10.0.0.3", 80, &hit), "10.0.0.3:80");
}

Test(destinations, unix_sockets_and_the_system_s_own)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/run/app.sock" };
	struct address address;
	struct name_hit hit;

	cr_assert(address_read(&address, (struct sockaddr *)&un, sizeof(un)));
	cr_assert_str_eq(destination_of(&address, &hit, 1)->name, "unix:/run/app.sock");
	memcpy(un.sun_path, "\0abstract", 9);
	cr_assert(address_read(&address, (struct sockaddr *)&un,
	                       offsetof(struct sockaddr_un, sun_path) + 9));
	cr_assert_str_eq(destination_of(&address, &hit, 1)->name, "unix:@abstract");
	for (const char *const *path =
	         (const char *const[]) { "/dev/log", "/var/run/nscd/socket",
	                                 "/run/dbus/system_bus_socket", "/run/uuidd/request",
	                                 "/var/lib/sss/pipes/nss", "/var/run/nslcd/socket",
	                                 "/run/samba/winbindd/pipe", NULL };
	     *path; path++) {
		strcpy(un.sun_path, *path);
		cr_assert_not(address_read(&address, (struct sockaddr *)&un, sizeof(un)), "%s",
		              *path);
	}
}

Test(destinations, incomplete_addresses_are_not_read)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct address address;

	for (socklen_t len = 0; len < sizeof(in); len++)
		cr_assert_not(address_read(&address, (struct sockaddr *)&in, len), "%u", len);
	cr_assert_not(address_read(&address, NULL, sizeof(in)));
	cr_assert_not(address_read(&address, (const struct sockaddr *)-1, sizeof(in)));
	in.sin_family = AF_UNSPEC;
	cr_assert_not(address_read(&address, (struct sockaddr *)&in, sizeof(in)));
}

Test(destinations, lookups_are_their_own)
{
	struct destination *one;

	cr_assert_null(destination_of_lookup("db.internal", AF_UNSPEC, false, 1));
	one = destination_of_lookup("db.internal", AF_UNSPEC, true, 1);
	cr_assert_str_eq(one->name, "dns:db.internal");
	cr_assert_neq(destination_of_lookup("db.internal", AF_INET6, true, 1), one,
	              "no address of one family says nothing of the other");
	cr_assert_eq(destination_of_lookup("DB.internal.", AF_UNSPEC, false, 1), one);
	cr_assert_null(destination_of_lookup("", AF_UNSPEC, true, 1));
}

Test(destinations, a_hundred_thousand_stay_in_fixed_memory_and_a_failing_one_stays_known)
{
	struct address failing = inet("10.9.9.9", 99);
	struct name_hit hit;
	struct destination *kept = destination_of(&failing, &hit, 1);

	kept->budget.streak = 3;
	for (int i = 0; i < 100000; i++) {
		char host[32];

		snprintf(host, sizeof(host), "10.%d.%d.%d", i >> 16, (i >> 8) & 255, i & 255);
		cr_assert_not_null(name_of(host, 80, &hit));
		if (i % 1000 == 0) /* it goes on being tried */
			cr_assert_eq(destination_of(&failing, &hit, now), kept);
	}
	cr_assert_str_eq(kept->name, "10.9.9.9:99");
	cr_assert_eq(kept->budget.streak, 3);
}

Test(destinations, an_evicted_slot_starts_afresh)
{
	struct name_hit hit;
	struct destination *slot;
	uint32_t generation;
	char host[32];
	int i = 0;

	slot = destination_of(&(struct address) { .bytes = { [15] = 1 }, .port = 1 }, &hit, 1);
	generation = (uint32_t)slot->generation;
	slot->tally.attempts = 42;
	cr_assert_eq(destination_at(destination_slot(slot), generation), slot);
	for (i = 0; (uint32_t)slot->generation == generation && i < 100000; i++) {
		snprintf(host, sizeof(host), "10.%d.%d.%d", i >> 16, (i >> 8) & 255, i & 255);
		name_of(host, 80, &hit);
	}
	cr_assert_null(destination_at(destination_slot(slot), generation));
	cr_assert_eq(slot->tally.attempts, 0);
}

Test(destinations, who_loses_its_place_while_in_use_is_counted)
{
	struct address address = { .port = 80 };
	struct name_hit hit;
	int places = 0;

	for (int i = 0; i < REGION_CHUNK * 2; i++) {
		address.bytes[0] = (uint8_t)i;
		address.bytes[1] = (uint8_t)(i >> 8);
		destination_of(&address, &hit, 1);
	}
	cr_expect_geq(shim_region->tally.evicted, REGION_CHUNK);
	for (int i = 0; i < REGION_CHUNK; i++)
		places += shim_region->first.destinations[i].tally.evicted > 0;
	cr_expect_gt(places, 0, "it says for whom");
	STORE(shim_region->tally.evicted, 0);
	address.bytes[2] = 1;
	destination_of(&address, &hit, NAMES_HORIZON + 2);
	cr_expect_eq(shim_region->tally.evicted, 0, "that one had been left alone");
}

Test(destinations, the_policy_is_found_by_name_and_by_address)
{
	struct account account;
	struct name_hit hit;
	struct address address = inet("10.1.0.5", 5432);

	config.policy_count = 1;
	config.serial = 9;
	cr_assert_eq(destination_account(destination_of(&address, &hit, 1), &config, &account), 0);
	cr_assert_eq(account.policy, &config.policies[0]);
	cr_assert_eq(account.process, &shim_region->process);
}

static void *same_slot(void *out)
{
	struct name_hit hit;

	for (int i = 0; i < 2000; i++) {
		struct address address = { .bytes = { 1, 2 }, .port = (uint16_t)(i % 300 + 1) };
		struct destination *found = destination_of(&address, &hit, 1);

		if (i < 300)
			((struct destination **)out)[i] = found;
	}
	return NULL;
}

Test(destinations, racing_threads_agree_on_the_slot)
{
	static struct destination *found[4][300];
	pthread_t threads[4];
	int differing = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, same_slot, found[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 300; i++)
		for (int t = 1; t < 4; t++)
			differing += found[t][i] != found[0][i];
	/* Only where a full window made one thread evict may they differ for a moment. */
	cr_assert(differing < 30, "%d", differing);
}
