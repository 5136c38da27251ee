/* SPDX-License-Identifier: MIT */
/* Holds a target against the patterns of the configuration; pattern.h gives the order. */
#include "config/match.h"

#include "config/pattern.h"

#include <netinet/in.h>
#include <string.h>

#define ANY_PORTS 65536

/* Matches n bytes of a name against a glob. Goes back to the last star only, which is enough, and
 * bounds the time by the product of the lengths. */
static bool glob(const char *pattern, const char *name, size_t n, bool fold)
{
	const char *star = NULL;
	size_t at = 0, retry = 0;

	while (at < n) {
		char byte = fold ? lower(name[at]) : name[at];

		if (*pattern == '*') {
			star = pattern++;
			retry = at;
		} else if (*pattern == '?' || (*pattern != '\0' && *pattern == byte)) {
			pattern++;
			at++;
		} else if (star) {
			pattern = star + 1;
			at = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/* A destination whose name nobody asked for is called by its address; that is not a host name, and
 * "*1*" is not meant for it. */
static bool is_numeric(const char *name)
{
	return *name == '[' || name[strspn(name, "0123456789.")] == '\0';
}

static enum pattern_kind kind_of(const char *name)
{
	if (begins(name, "unix:"))
		return PATTERN_PATH;
	return begins(name, "dns:") ? PATTERN_LOOKUP : PATTERN_HOST;
}

static bool fits_name(const struct config *config, const struct pattern *pattern,
                      const struct target *target)
{
	const char *text = config->text + pattern->text;
	size_t n;

	if (!target->name || *target->name == '\0')
		return target->address && pattern->kind == PATTERN_HOST && strcmp(text, "*") == 0;
	if ((enum pattern_kind)pattern->kind != kind_of(target->name))
		return false;
	if (pattern->kind == PATTERN_HOST && is_numeric(target->name))
		return strcmp(text, "*") == 0;
	n = strlen(target->name);
	if (pattern->kind != PATTERN_PATH && n > 1 && target->name[n - 1] == '.')
		n--;
	return glob(text, target->name, n, pattern->kind != PATTERN_PATH);
}

static bool fits_address(const struct pattern *pattern, const uint8_t *address)
{
	int whole = pattern->prefix / 8, rest = pattern->prefix % 8;

	/* [::]/0 is all of IPv6, not IPv4 written as IPv6. */
	if ((pattern->kind == PATTERN_V4) != ip_is_v4(address))
		return false;
	return memcmp(pattern->address, address, (size_t)whole) == 0 &&
	       (rest == 0 || (pattern->address[whole] ^ address[whole]) >> (8 - rest) == 0);
}

static bool fits(const struct config *config, const struct pattern *pattern,
                 const struct target *target)
{
	if (target->port < pattern->port_low || target->port > pattern->port_high)
		return false;
	if (pattern->kind == PATTERN_V4 || pattern->kind == PATTERN_V6)
		return target->address && fits_address(pattern, target->address);
	return fits_name(config, pattern, target);
}

/* The order of pattern.h as one number, the greater the more specific. */
static uint64_t rank(const struct config *config, const struct pattern *pattern)
{
	bool by_name = pattern->kind != PATTERN_V4 && pattern->kind != PATTERN_V6;
	uint64_t literals = 0, class, port;

	if (by_name) {
		const char *text = config->text + pattern->text;

		if (pattern->kind == PATTERN_PATH)
			text += strlen("unix:");
		else if (pattern->kind == PATTERN_LOOKUP)
			text += strlen("dns:");
		for (size_t i = 0; text[i]; i++)
			literals += text[i] != '*' && text[i] != '?';
		if (literals == strlen(text))
			class = 2;
		else
			class = strcmp(text, "*") != 0;
	} else {
		literals = pattern->prefix - (pattern->kind == PATTERN_V4 ? 96U : 0U);
		class = pattern->prefix == 128 ? 2 : 1;
	}
	port = ANY_PORTS - (uint64_t)(pattern->port_high - pattern->port_low);
	if (pattern->port_low == 0)
		port = 0;
	return class << 48 | (uint64_t)by_name << 40 | literals << 20 | port;
}

int pattern_find(const struct config *config, const struct target *target)
{
	uint64_t best_rank = 0;
	int best = -1;

	for (int i = 0; i < config->pattern_count && i < CONFIG_PATTERNS; i++) {
		const struct pattern *pattern = &config->patterns[i];
		uint64_t its_rank;

		if (!fits(config, pattern, target))
			continue;
		its_rank = rank(config, pattern);
		if (best < 0 || its_rank > best_rank) {
			best = i;
			best_rank = its_rank;
		}
	}
	return best;
}

int config_match(const struct config *config, const struct target *target)
{
	int pattern = pattern_find(config, target);

	return pattern < 0 ? 0 : config->patterns[pattern].policy;
}

void pattern_print(const struct config *config, int index, struct text *out)
{
	const struct pattern *pattern = &config->patterns[index];

	if (pattern->kind == PATTERN_V4 || pattern->kind == PATTERN_V6) {
		bool v4 = pattern->kind == PATTERN_V4;

		/* text_ip() writes the port 0 too: it is taken off again. */
		text_ip(out, pattern->address, 0, 0);
		text_rewind(out, out->used - strlen(":0"));
		if (pattern->prefix != 128) {
			text_string(out, "/");
			text_decimal(out, pattern->prefix - (v4 ? 96 : 0));
		}
	} else {
		const char *text = config->text + pattern->text;

		text_string(out, text);
		/* A host of that name: without the dot it would be a lookup, or a path. */
		if (pattern->kind == PATTERN_HOST && pattern->port_low != 0 &&
		    (strcmp(text, "dns") == 0 || strcmp(text, "unix") == 0))
			text_string(out, ".");
	}
	if (pattern->port_low == 0)
		return;
	text_string(out, ":");
	text_decimal(out, pattern->port_low);
	if (pattern->port_high != pattern->port_low) {
		text_string(out, "-");
		text_decimal(out, pattern->port_high);
	}
}
