/* SPDX-License-Identifier: MIT */
/* Lists of servers, as [fleet] redis takes them. */
#include "config/servers.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect(const char *list, const char *host, int port)
{
	const char *at = list;
	struct server server;

	cr_expect(servers_are_valid(list), "%s", list);
	cr_expect(server_next(&at, &server), "%s", list);
	cr_expect_str_eq(server.host, host);
	cr_expect_eq(server.port, port);
}

Test(servers, each_kind_is_read)
{
	expect("10.0.0.5:6379", "10.0.0.5", 6379);
	expect("redis.internal:1", "redis.internal", 1);
	expect("[2001:db8::1]:6379", "2001:db8::1", 6379);
	expect("[::ffff:10.0.0.5]:65535", "::ffff:10.0.0.5", 65535);
	expect("unix:/run/redis/redis.sock", "/run/redis/redis.sock", 0);
}

Test(servers, they_come_in_their_order)
{
	const char *list = "  a:1 ,unix:/b\t, [::1]:3";
	struct server server;
	char all[256] = "";

	cr_expect(servers_are_valid(list));
	while (server_next(&list, &server)) {
		strcat(all, server.host);
		strcat(all, " ");
	}
	cr_expect_not_null(list);
	cr_expect_str_eq(all, "a /b ::1 ");
}

Test(servers, what_is_none_is_refused)
{
	static const char *const bad[] = {
		"",
		" ",
		",",
		"a",
		"a:",
		"a:0",
		"a:65536",
		"a:99999999999",
		"a:1x",
		":1",
		"a b:1",
		"unix:",
		"unix:run/x",
		"[::1]",
		"[::1:5",
		"::1:5",
		"[]:5",
		"a:1,",
		"a:1,,b:2",
		"a:1 b:2",
		"[a/b]:1",
		"a/b:1",
		"a:1,b:2,c:3,d:4,e:5,f:6,g:7,h:8,i:9",
		"unix:/"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaa",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect_not(servers_are_valid(bad[i]), "%s", bad[i]);
	cr_expect(servers_are_valid("a:1,b:2,c:3,d:4,e:5,f:6,g:7,h:8"));
}
