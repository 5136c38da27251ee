/* SPDX-License-Identifier: MIT */
/* The line of a record: its fields, its escapes, and what is cut where. */
#include "record_fixture.h"
#include "sys/text.h"

static const struct told nothing;

static const char *line_of(const struct record *record, const struct told *told, const char *site)
{
	static char line[RECORD_MAX];
	size_t n = record_format(line, sizeof(line), record, "orderd", told, site);

	cr_assert_eq(n, strlen(line));
	return line;
}

Test(record, example)
{
	struct record record = throttled();

	cr_assert_str_eq(line_of(&record, &sums, "orderd+0x1a2f,orderd+0x0f10"),
	                 "event=throttled prog=orderd dest=db.internal:5432 addr=10.1.0.5:5432 "
	                 "policy=orders-db class=refused why=loop retry=7 tokens=0.0/10 "
	                 "process_tokens=93.1/100 attempts=412 throttled=371 refused=371 held=96 "
	                 "waited_ms=24012 since_ms=30811 due_ms=812 errno=ECONNREFUSED "
	                 "site=orderd+0x1a2f,orderd+0x0f10");
	record.observe = true;
	cr_assert(strstr(line_of(&record, &nothing, NULL), "event=would-throttle ") != NULL);
}

Test(record, whose_tokens_they_are)
{
	struct record record = throttled();

	record.source = SOURCE_LEASE;
	cr_assert(strstr(line_of(&record, &sums, NULL), " tokens=0.0/10 by=lease process_tokens="));
	record.source = SOURCE_RESERVE;
	cr_assert(
	    strstr(line_of(&record, &sums, NULL), " tokens=0.0/10 by=reserve process_tokens="));
	record.source = SOURCES;
	cr_assert_null(strstr(line_of(&record, &sums, NULL), " by="));
}

Test(record, other_events)
{
	struct record record = { .event = EVENT_ATTEMPT,
		                 .destination = &destination,
		                 .thread = 4712 };

	strcpy(destination.name, "dns:db.internal");
	record.eai = EAI_AGAIN;
	cr_assert_str_eq(line_of(&record, &nothing, NULL),
	                 "event=attempt prog=orderd dest=dns:db.internal kind=first thread=4712 "
	                 "eai=EAI_AGAIN");
	record.retry = true;
	record.thread = 0;
	record.eai = 0;
	record.err = 4000;
	cr_assert_str_eq(line_of(&record, &nothing, ""),
	                 "event=attempt prog=orderd dest=dns:db.internal kind=retry errno=4000");
	record = (struct record) { .event = EVENT_SPREAD,
		                   .destination = &destination,
		                   .observe = true,
		                   .wait = 5 * NS_PER_S };
	cr_assert_eq(
	    strncmp(line_of(&record, &nothing, NULL), "event=would-spread prog=orderd dest=", 36),
	    0);
	cr_assert(strstr(line_of(&record, &nothing, NULL), " wait_ms=5000") != NULL);
	record = (struct record) { .event = EVENT_CONFIG_ERROR,
		                   .file = "/etc/retrybudget.ini",
		                   .line = 12,
		                   .text = "unknown key 'flor': did you mean \"floor\"?" };
	cr_assert_str_eq(line_of(&record, &nothing, NULL),
	                 "event=config-error prog=orderd file=/etc/retrybudget.ini line=12 "
	                 "msg=\"unknown key 'flor': did you mean \\x22floor\\x22?\"");
	static const char *const names[] = {
		"loaded",    "config-error", "reloaded",          "attempt",        "retrying",
		"throttled", "exhausted",    "refilled",          "recovered",      "rejected",
		"scope",     "breaker-open", "breaker-half-open", "breaker-closed", "spread",
		"mode"
	};
	for (int event = EVENT_LOADED; event <= EVENT_MODE; event++) {
		record = (struct record) { .event = (enum event)event };
		cr_assert_str_eq(record_event(&record), names[event]);
	}
}

/* The end of an outage says how long it was, and what no record has told yet. */
Test(record, recovered)
{
	struct record record = throttled();

	record = (struct record) { .event = EVENT_RECOVERED,
		                   .destination = &destination,
		                   .policy = "orders-db",
		                   .streak = 9,
		                   .tokens = 1250,
		                   .capacity = 10000,
		                   .since = 61002 * NS_PER_MS };
	cr_assert_str_eq(line_of(&record, &(struct told) { .attempts = 3, .parked = 2 }, NULL),
	                 "event=recovered prog=orderd dest=db.internal:5432 policy=orders-db "
	                 "retry=9 tokens=1.2/10 attempts=3 parked=2 since_ms=61002");
}

Test(record, rejected)
{
	static struct admission admission;
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(8080) };
	struct record record = { .event = EVENT_REJECTED,
		                 .admission = &admission,
		                 .listen = (struct sockaddr *)&in,
		                 .listen_len = sizeof(in),
		                 .policy = "web",
		                 .tokens = 250,
		                 .capacity = 10000,
		                 .queue = 17 };

	cr_assert_str_eq(line_of(&record, &(struct told) { .suppressed = 412 }, NULL),
	                 "event=rejected prog=orderd listen=0.0.0.0:8080 policy=web "
	                 "tokens=0.2/10 queue=17 suppressed=412");
	record.observe = true;
	cr_assert(strstr(line_of(&record, &nothing, NULL), "event=would-reject ") != NULL);
}

static const char *address_text(const void *from, socklen_t len)
{
	static char out[256];
	struct text text;

	text_start(&text, out, sizeof(out));
	return text_address(&text, from, len, 200) ? out : "(no)";
}

static const char *ip6_text(const char *ip, uint32_t scope)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		                    .sin6_port = htons(80),
		                    .sin6_scope_id = scope };

	cr_assert_eq(inet_pton(AF_INET6, ip, &in6.sin6_addr), 1);
	return address_text(&in6, sizeof(in6));
}

Test(record, addresses)
{
	/* RFC 5952's own examples among them; libc's inet_ntop agrees. */
	cr_assert_str_eq(ip6_text("2001:db8:0:0:1:0:0:1", 0), "[2001:db8::1:0:0:1]:80");
	cr_assert_str_eq(ip6_text("2001:db8:0:1:1:1:1:1", 0), "[2001:db8:0:1:1:1:1:1]:80");
	cr_assert_str_eq(ip6_text("2001:0:0:1:0:0:0:1", 0), "[2001:0:0:1::1]:80");
	cr_assert_str_eq(ip6_text("::", 0), "[::]:80");
	cr_assert_str_eq(ip6_text("::1", 0), "[::1]:80");
	cr_assert_str_eq(ip6_text("1::", 0), "[1::]:80");
	cr_assert_str_eq(ip6_text("fe80::1", 3), "[fe80::1%3]:80");
	cr_assert_str_eq(ip6_text("::ffff:192.0.2.7", 0), "192.0.2.7:80");

	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/run/a b" };
	socklen_t start = offsetof(struct sockaddr_un, sun_path);

	cr_assert_str_eq(address_text(&un, sizeof(un)), "\"unix:/run/a b\"");
	cr_assert_str_eq(address_text(&un, start + 4), "unix:/run");
	cr_assert_str_eq(address_text(&un, start), "unix:");
	memcpy(un.sun_path, "\0ab\0c", 5);
	cr_assert_str_eq(address_text(&un, start + 5), "\"unix:@ab\\x00c\"");
	memset(un.sun_path, 'x', sizeof(un.sun_path));
	cr_assert_eq(strlen(address_text(&un, sizeof(un))), 5 + sizeof(un.sun_path));
	cr_assert_eq(strlen(address_text(&un, sizeof(un) + 100)), 5 + sizeof(un.sun_path));
	for (socklen_t len = 0; len < sizeof(struct sockaddr_in); len++)
		cr_assert_str_eq(address_text(&(struct sockaddr_in) { .sin_family = AF_INET }, len),
		                 "(no)");
	cr_assert_str_eq(address_text(&(struct sockaddr) { .sa_family = 77 }, 16), "(no)");
}

Test(record, random_ip6_as_inet_ntop)
{
#ifndef __GLIBC__
	cr_skip_test("musl shortens other runs of zeroes");
#endif
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
		char libc[INET6_ADDRSTRLEN], expected[80];

		for (int k = 0; k < 16; k++)
			in6.sin6_addr.s6_addr[k] = random() % 3 ? 0 : (uint8_t)random();
		inet_ntop(AF_INET6, &in6.sin6_addr, libc, sizeof(libc));
		if (strchr(libc, '.')) /* inet_ntop's dotted forms of old */
			continue;
		snprintf(expected, sizeof(expected), "[%s]:0", libc);
		cr_assert_str_eq(address_text(&in6, sizeof(in6)), expected);
	}
}

Test(record, numbers)
{
	char out[64];
	struct text text;

	text_start(&text, out, sizeof(out));
	text_decimal(&text, INT64_MIN);
	text_string(&text, " ");
	text_fixed(&text, 93999, 1);
	text_string(&text, " ");
	text_fixed(&text, -50, 1);
	text_string(&text, " ");
	text_thousandths(&text, 2050);
	text_string(&text, " ");
	text_hex(&text, 0xbeef);
	cr_assert_str_eq(out, "-9223372036854775808 93.9 0.0 2.05 0xbeef");
	text_start(&text, out, 3);
	cr_assert(!text_decimal(&text, -10));
	cr_assert_str_eq(out, "");
	cr_assert(text_decimal(&text, -1));
	cr_assert(!text_string(&text, "x"));
	text_start(&text, NULL, 0);
	cr_assert(!text_string(&text, "x"));
}

/* Sets each field that holds text from outside, in turn. */
static const char *const text_fields[] = {
	"prog", "dest", "policy", "file", "msg", "site", "addr"
};
#define TEXT_FIELDS (sizeof(text_fields) / sizeof(*text_fields))

static size_t line_with(char *out, size_t size, size_t field, const char *bytes)
{
	static struct sockaddr_un un;
	struct record record = throttled();
	const char *prog = "orderd", *site = NULL;

	switch (field) {
	case 0:
		prog = bytes;
		break;
	case 1:
		memset(destination.name, 0, sizeof(destination.name));
		strncpy(destination.name, bytes, sizeof(destination.name) - 1);
		break;
	case 2:
		record.policy = bytes;
		break;
	case 3:
		record.file = bytes;
		break;
	case 4:
		record.text = bytes;
		break;
	case 5:
		site = bytes;
		break;
	default:
		un = (struct sockaddr_un) { .sun_family = AF_UNIX };
		strncpy(un.sun_path, bytes, sizeof(un.sun_path) - 1);
		record.address = (struct sockaddr *)&un;
		record.address_len = sizeof(un);
	}
	return record_format(out, size, &record, prog, &sums, site);
}

static void check_hostile(const char *bytes)
{
	for (size_t field = 0; field < TEXT_FIELDS; field++) {
		static struct pairs pairs;
		char line[RECORD_MAX];
		const char *expected = "throttled";
		int of_that_name = 0;

		line_with(line, sizeof(line), field, bytes);
		cr_assert(parse(line, &pairs), "%s: not logfmt: %s", text_fields[field], line);
		cr_assert_str_eq(pairs.key[0], "event");
		cr_assert_str_eq(pairs.value[0], expected);
		for (int i = 0; i < pairs.count; i++) {
			cr_assert(i == 0 || strcmp(pairs.key[i], "event") != 0, "forged: %s", line);
			of_that_name += strcmp(pairs.key[i], text_fields[field]) == 0;
		}
		cr_assert(of_that_name <= 1, "forged: %s", line);
		if (field >= 5 && !*bytes) /* no site; an unnamed socket */
			continue;
		const char *value = value_of(&pairs, text_fields[field]);

		cr_assert_not_null(value, "%s: lost: %s", text_fields[field], line);
		if (field == 6)
			value += strlen("unix:");
		size_t n = strlen(value);

		if (strcmp(value, bytes) != 0) /* then it was shortened, and shows it */
			cr_assert(n > 3 && strcmp(value + n - 3, "...") == 0 &&
			              strncmp(value, bytes, n - 3) == 0,
			          "%s: %s", text_fields[field], line);
		if (strlen(bytes) <= 6)
			cr_assert_str_eq(value, bytes);
	}
}

Test(record, hostile_bytes)
{
	static const char *const nasty[] = {
		"",
		" ",
		"=",
		"\"",
		"\\",
		"\\x41",
		"x\" event=forged a=\"",
		"x event=forged",
		"a\nevent=forged",
		"dest=\"x\" event=forged",
		"a\r\n<11>root: forged",
		"\x7f\x80\xc0\xff",
		"\xc3\xa4\xe2\x80\xae",
		"\x1b[2J\x07",
		"...",
	};

	for (size_t i = 0; i < sizeof(nasty) / sizeof(*nasty); i++)
		check_hostile(nasty[i]);
	for (int c = 1; c < 256; c++)
		check_hostile((char[]) { 'a', (char)c, 'b', 0 });
	srandom(7);
	for (int i = 0; i < 2000; i++) {
		char bytes[1200];
		size_t n = (size_t)random() % sizeof(bytes);

		for (size_t k = 0; k < n; k++)
			bytes[k] = (char)(1 + random() % 255);
		bytes[n] = '\0';
		if (n == sizeof(bytes))
			n--;
		bytes[n] = '\0';
		check_hostile(bytes);
	}
}

/* A line of any size is whole fields, and its values are whole or visibly cut. */
Test(record, every_size)
{
	static const char *const values[] = { "plain-value-of-some-length",
		                              "with \"quotes\" and \n" };
	static struct pairs pairs, whole;
	char line[RECORD_MAX + 8];

	for (size_t field = 0; field < TEXT_FIELDS; field++)
		for (size_t v = 0; v < 2; v++) {
			line_with(line, RECORD_MAX, field, values[v]);
			cr_assert(parse(line, &whole));
			for (size_t size = 0; size <= RECORD_MAX; size++) {
				memset(line, 'Z', sizeof(line));
				size_t n = line_with(line, size, field, values[v]);

				cr_assert(size == 0 || n < size);
				cr_assert_eq(line[size], 'Z', "wrote beyond %zu", size);
				if (size == 0)
					continue;
				cr_assert_eq(line[n], '\0');
				cr_assert(parse(line, &pairs), "%zu: %s", size, line);
				for (int i = 0; i < pairs.count; i++) {
					const char *is = pairs.value[i];
					const char *should = value_of(&whole, pairs.key[i]);
					size_t m = strlen(is);

					cr_assert_not_null(should);
					cr_assert(strcmp(is, should) == 0 ||
					              (m > 3 && strcmp(is + m - 3, "...") == 0 &&
					               strncmp(is, should, m - 3) == 0),
					          "%zu: %s", size, line);
				}
			}
		}
}

/* The longest values there can be leave room for all the rest. */
Test(record, long_values_crowd_nothing_out)
{
	static struct pairs pairs;
	char line[RECORD_MAX], big[2000];
	struct record record = throttled();
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const struct told most = { INT64_C(999999999999),
		                   INT64_C(999999999999),
		                   INT64_C(999999999999),
		                   INT64_C(999999999999),
		                   INT64_C(999999999999),
		                   INT64_MAX / 2,
		                   0,
		                   false };

	memset(big, '\n', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	memset(destination.name, '\n', sizeof(destination.name)); /* not even a NUL */
	memset(un.sun_path, '\n', sizeof(un.sun_path));
	record.policy = big;
	record.address = (struct sockaddr *)&un;
	record.address_len = sizeof(un);
	record.streak = record.tokens = record.capacity = INT64_MIN + 1;
	record.process_tokens = record.process_capacity = INT64_MIN + 1;
	record.due = record.since = INT64_MAX;
	record.failure = FAILURE_UNREACHABLE;
	record.why = "same-request";
	record.err = EADDRNOTAVAIL;
	record_format(line, sizeof(line), &record, big, &most, big);
	cr_assert(parse(line, &pairs), "%s", line);
	cr_assert_eq(pairs.count, 20, "%s", line);
	cr_assert_not_null(value_of(&pairs, "site"));
	cr_assert_not_null(value_of(&pairs, "errno"));
}
