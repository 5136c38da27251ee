/* SPDX-License-Identifier: MIT */
/* The text of what is to fail. */
#include "sys/inject_text.h"

#include "sys/text.h"

#include <string.h>

static enum inject_kind kind_of(const char *word, size_t n)
{
	static const struct {
		const char *word;
		enum inject_kind kind;
	} kinds[] = {
		{ "refused", INJECT_REFUSED },
		{ "unreachable", INJECT_UNREACHABLE },
		{ "hang", INJECT_HANG },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strlen(kinds[i].word) == n && memcmp(kinds[i].word, word, n) == 0)
			return kinds[i].kind;
	return INJECT_NOTHING;
}

/* A step, "refused:2", of which it passes over. 0 is what no count is. */
static enum inject_kind take_step(const char **at, int32_t *count)
{
	size_t n = strcspn(*at, ":,\n");
	enum inject_kind kind = kind_of(*at, n);

	*at += n;
	*count = 0;
	if (**at != ':')
		return kind;
	for (++*at; is_digit(**at) && *count <= INJECT_MOST; ++*at)
		*count = *count * 10 + (**at - '0');
	return kind;
}

const char *inject_parse(const char *line, struct inject_plan *plan)
{
	const char *end = line + strcspn(line, "\n"),
		   *sign = memchr(line, '=', (size_t)(end - line));
	const char *at;
	int steps = 0;

	memset(plan, 0, sizeof(*plan));
	if (!sign || sign == line)
		return "write DEST=refused:2,hang:1";
	if ((size_t)(sign - line) >= sizeof(plan->name))
		return "the destination is too long";
	memcpy(plan->name, line, (size_t)(sign - line));
	for (at = sign + 1;; at++) {
		int32_t count;
		enum inject_kind kind = take_step(&at, &count);

		if (kind == INJECT_NOTHING)
			return "an attempt can be refused, unreachable or hang";
		if (count < 1 || count > INJECT_MOST)
			return "how many attempts is a number from 1 to 1000000: refused:2";
		if (steps == INJECT_STEPS)
			return "too many steps: there is room for 4";
		plan->steps[steps].kind = kind;
		plan->steps[steps++].count = count;
		if (at == end)
			return NULL;
		if (*at != ',')
			return "steps are parted by commas: refused:2,hang:1";
	}
}

enum inject_kind inject_step(const struct inject_plan *plan, int32_t number)
{
	for (int i = 0; i < INJECT_STEPS && plan->steps[i].kind; i++) {
		if (number < plan->steps[i].count)
			return plan->steps[i].kind;
		number -= plan->steps[i].count;
	}
	return INJECT_NOTHING;
}

bool inject_means(const struct inject_plan *plan, const char *name)
{
	size_t n = strlen(plan->name);

	return strncmp(name, plan->name, n) == 0 &&
	       (name[n] == '\0' ||
	        (name[n] == ':' && !strchr(name + n + 1, ':') && !begins(name, "unix:")));
}
