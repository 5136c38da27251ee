/* SPDX-License-Identifier: MIT */
/* Compiles the patterns of match lines; match.c holds targets against them. */
#include "config/pattern.h"

#include "config/keys.h"
#include "config/value.h"

#include <arpa/inet.h>
#include <string.h>

#define HOST_MAX     253 /* RFC 1035, without the dot at the end */
#define PORT_MAX     65535
#define V4_PREFIX    96 /* bits of ::ffff:0:0/96 */
#define ADDRESS_BITS 128

/* A piece of what the operator wrote. */
struct part {
	const char *at;
	size_t n;
};

/* In capitals or not: "DNS:db" must not be a port of a host called dns. */
static bool part_begins(struct part part, const char *with)
{
	size_t n = strlen(with);

	for (size_t i = 0; i < n && i < part.n; i++)
		if ((part.at[i] | 0x20) != with[i])
			return false;
	return part.n >= n;
}

static size_t find(struct part part, char byte)
{
	const char *at = memchr(part.at, byte, part.n);

	return at ? (size_t)(at - part.at) : part.n;
}

static struct part after(struct part part, size_t n)
{
	return (struct part) { part.at + n, part.n - n };
}

static struct part upto(struct part part, size_t n)
{
	return (struct part) { part.at, n };
}

/* A number of at most five digits, or -1. */
static long number(struct part part)
{
	long value = 0;

	if (part.n == 0 || part.n > 5)
		return -1;
	for (size_t i = 0; i < part.n; i++) {
		if (part.at[i] < '0' || part.at[i] > '9')
			return -1;
		value = value * 10 + (part.at[i] - '0');
	}
	return value;
}

static bool all_in(struct part part, const char *bytes)
{
	for (size_t i = 0; i < part.n; i++)
		if (!strchr(bytes, part.at[i]))
			return false;
	return true;
}

/* "" (any), ":*", ":443" or ":8000-8999". */
static bool read_port(struct part part, struct pattern *pattern, struct text *why)
{
	size_t dash;
	long low, high;

	pattern->port_low = 0;
	pattern->port_high = PORT_MAX;
	if (part.n == 0)
		return true;
	part = after(part, 1);
	if (part.n == 1 && part.at[0] == '*')
		return true;
	dash = find(part, '-');
	low = number(upto(part, dash));
	high = dash < part.n ? number(after(part, dash + 1)) : low;
	if (low < 1 || high > PORT_MAX || low > high) {
		text_string(why, "the port is 1 to 65535, a range such as 8000-8999, or *");
		return false;
	}
	pattern->port_low = (uint16_t)low;
	pattern->port_high = (uint16_t)high;
	return true;
}

/* Appends the text of a name or path to the config, in lower case where case does not matter. */
static bool keep_text(struct config *config, struct part part, bool fold, struct pattern *pattern,
                      struct text *why)
{
	char *to = config->text + config->text_used;

	/* The last byte stays zero, so that a reader that races with a reload finds an end. */
	if (part.n + 1 >= CONFIG_TEXT - config->text_used) {
		text_string(why, "the patterns of all sections together are too long; use globs");
		return false;
	}
	for (size_t i = 0; i < part.n; i++)
		to[i] = fold ? lower(part.at[i]) : part.at[i];
	to[part.n] = '\0';
	pattern->text = config->text_used;
	config->text_used += (uint32_t)part.n + 1;
	return true;
}

static bool host_valid(struct part part, struct text *why)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-*?";

	for (size_t i = 0; i < part.n; i++) {
		if (!strchr(allowed, part.at[i]) && (part.at[i] & 0x80) == 0) {
			text_string(why, "a host name has no ");
			text_quoted(why, part.at + i, 1);
			text_string(why, "; separate patterns by commas");
			return false;
		}
	}
	if (part.n == 0 || part.n > HOST_MAX) {
		text_string(why, "the host name is empty or too long");
		return false;
	}
	if (all_in(part, "0123456789.*?") && !all_in(part, "*?")) {
		text_string(why, all_in(part, "0123456789.")
		                     ? "this is not an address"
		                     : "globs are for names; for addresses write 10.1.0.0/16");
		return false;
	}
	return true;
}

static bool compile_host(struct config *config, struct part part, struct pattern *pattern,
                         struct text *why)
{
	size_t colon = find(part, ':');
	struct part host = upto(part, colon);

	if (host.n > 1 && host.at[host.n - 1] == '.')
		host.n--; /* "db.internal." names the same host as "db.internal" */
	pattern->kind = PATTERN_HOST;
	return host_valid(host, why) && read_port(after(part, colon), pattern, why) &&
	       keep_text(config, host, true, pattern, why);
}

/* Fills address and prefix from the text of an address and of "/16" or nothing. */
static bool read_network(struct part address, struct part length, struct pattern *pattern,
                         struct text *why)
{
	char string[INET6_ADDRSTRLEN] = { 0 };
	long limit, bits;
	uint8_t bytes[4];
	bool v4;

	if (address.n < sizeof(string))
		memcpy(string, address.at, address.n);
	v4 = inet_pton(AF_INET, string, bytes) == 1;
	if (v4) {
		ip_map_v4(pattern->address, bytes);
	} else if (inet_pton(AF_INET6, string, pattern->address) != 1) {
		text_quoted(why, address.at, address.n);
		text_string(why,
		            " is not an address; write 10.1.0.0/16:5432 or [2001:db8::]/32:443");
		return false;
	}
	limit = v4 ? ADDRESS_BITS - V4_PREFIX : ADDRESS_BITS;
	bits = length.n > 0 ? number(after(length, 1)) : limit;
	if (bits < 0 || bits > limit) {
		text_string(why, "the length of a network is /0 to /");
		text_decimal(why, limit);
		return false;
	}
	pattern->prefix = (uint8_t)(v4 ? bits + V4_PREFIX : bits);
	pattern->kind =
	    pattern->prefix >= V4_PREFIX && ip_is_v4(pattern->address) ? PATTERN_V4 : PATTERN_V6;
	for (int bit = pattern->prefix; bit < ADDRESS_BITS; bit++) {
		if (pattern->address[bit / 8] & (0x80 >> bit % 8)) {
			text_string(why,
			            "the address has bits beyond its length; write zeroes there, "
			            "or leave the length out for one address");
			return false;
		}
	}
	return true;
}

/* "10.0.0.0/8:443", "[::1]:80", "[2001:db8::]/32:443", "[2001:db8::/32]:443", "::1". */
static bool compile_address(struct part part, struct pattern *pattern, struct text *why)
{
	struct part address, length, rest;
	size_t colon = find(part, ':');

	if (part.at[0] == '[') {
		size_t bracket = find(part, ']');

		if (bracket == part.n) {
			text_string(why, "the ']' is missing");
			return false;
		}
		rest = after(part, bracket + 1);
		part = (struct part) { part.at + 1, bracket - 1 };
		address = upto(part, find(part, '/'));
		length = after(part, address.n);
		if (length.n == 0) {
			length = upto(rest, find(rest, ':'));
			rest = after(rest, length.n);
		}
	} else if (find(part, '/') < part.n) {
		address = upto(part, find(part, '/'));
		length = after(part, address.n);
		length = upto(length, find(length, ':'));
		rest = after(part, address.n + length.n);
	} else {
		bool v6 = colon < part.n && find(after(part, colon + 1), ':') < part.n - colon - 1;

		address = v6 ? part : upto(part, colon);
		length = after(part, part.n);
		rest = after(part, address.n);
	}
	if ((length.n > 0 && length.at[0] != '/') || (rest.n > 0 && rest.at[0] != ':')) {
		text_string(why, "after an address comes /length, :port or both");
		return false;
	}
	return read_network(address, length, pattern, why) && read_port(rest, pattern, why);
}

/* True if the pattern is meant to be an address: brackets, a length, two colons, or digits and dots
 * alone before the port. */
static bool is_address(struct part part)
{
	size_t colon = find(part, ':');

	return part.at[0] == '[' || find(part, '/') < part.n ||
	       (colon < part.n && find(after(part, colon + 1), ':') < part.n - colon - 1) ||
	       all_in(upto(part, colon), "0123456789.");
}

static bool compile_path(struct config *config, struct part part, struct pattern *pattern,
                         struct text *why)
{
	char first = part.n > 5 ? part.at[5] : '\0';

	pattern->kind = PATTERN_PATH;
	if (memcmp(part.at, "unix:", 5) != 0) {
		text_string(why, "write unix: in small letters, as the path's case matters too");
		return false;
	}
	if (first != '/' && first != '@' && first != '*') {
		text_string(why, "after unix: comes a path from '/', or '@' and an abstract name");
		return false;
	}
	return keep_text(config, part, false, pattern, why);
}

static bool compile_lookup(struct config *config, struct part part, struct pattern *pattern,
                           struct text *why)
{
	struct part host = after(part, 4);

	pattern->kind = PATTERN_LOOKUP;
	if (host.n > 1 && host.at[host.n - 1] == '.') {
		host.n--;
		part.n--;
	}
	if (find(host, ':') < host.n) {
		text_string(why, "a lookup has no port: write dns:name");
		return false;
	}
	return host_valid(host, why) && keep_text(config, part, true, pattern, why);
}

static bool compile(struct config *config, struct part part, struct pattern *pattern,
                    struct text *why)
{
	pattern->port_high = PORT_MAX;
	if (part.n == 0) {
		text_string(why, "it is empty; separate patterns by single commas");
		return false;
	}
	if (part_begins(part, "unix:"))
		return compile_path(config, part, pattern, why);
	if (part_begins(part, "dns:"))
		return compile_lookup(config, part, pattern, why);
	if (is_address(part))
		return compile_address(part, pattern, why);
	return compile_host(config, part, pattern, why);
}

static bool same(const struct config *config, const struct pattern *a, const struct pattern *b)
{
	return a->kind == b->kind && a->port_low == b->port_low && a->port_high == b->port_high &&
	       a->prefix == b->prefix && memcmp(a->address, b->address, sizeof(a->address)) == 0 &&
	       strcmp(config->text + a->text, config->text + b->text) == 0;
}

bool pattern_add(struct config *config, int policy, const char *string, size_t n, int *twin,
                 struct text *why)
{
	struct pattern *pattern = &config->patterns[config->pattern_count];
	uint32_t text_used = config->text_used;
	size_t before;

	*twin = -1;
	text_string(why, "pattern ");
	text_quoted(why, string, n);
	text_string(why, ": ");
	before = why->used;
	if (config->pattern_count == CONFIG_PATTERNS) {
		text_string(why, "no more than ");
		text_decimal(why, CONFIG_PATTERNS);
		text_string(why, " patterns in all; use globs or networks");
		return false;
	}
	memset(pattern, 0, sizeof(*pattern));
	pattern->policy = policy;
	if (!compile(config, (struct part) { string, n }, pattern, why)) {
		config->text_used = text_used;
		return false;
	}
	text_rewind(why, before);
	for (int i = 0; i < config->pattern_count; i++) {
		if (same(config, &config->patterns[i], pattern)) {
			*twin = config->patterns[i].policy;
			config->text_used = text_used;
			return true;
		}
	}
	config->pattern_count++;
	return true;
}
