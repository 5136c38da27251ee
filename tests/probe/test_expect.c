/* SPDX-License-Identifier: MIT */
/* What a probe says one way held against what it says another way. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define CANNOT 77

int records_with(const struct result *result, const char *text)
{
	int n = 0;

	for (const char *at = result->records; (at = strstr(at, text)) != NULL; at += strlen(text))
		n++;
	return n;
}

static const char *const lengths[] = {
#define LENGTH(words) words,
#include "lengths.def"
#undef LENGTH
};

/* The length of the words for a length of time that text begins with; 0: it does not. */
static size_t tells_length(const char *text)
{
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		if (strncmp(text, lengths[i], strlen(lengths[i])) == 0)
			return strlen(lengths[i]);
	return 0;
}

/* True if two texts differ in lengths of time and in nothing else. */
static bool differ_in_lengths(const char *a, const char *b)
{
	bool differ = strcmp(a, b) != 0;

	while (*a != '\0' && *b != '\0') {
		size_t of_a = tells_length(a), of_b = tells_length(b);

		if (of_a > 0 && of_b > 0) {
			a += of_a;
			b += of_b;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return differ && *a == *b;
}

/* A machine that stops for a moment makes one late or early: of at most four runs two must be as
 * they should be. */
void run_to_say(const struct probe *probe, enum how how, struct result *result, const char *wanted)
{
	run_probe(probe, how, result);
	if (wanted == NULL || !differ_in_lengths(result->out, wanted))
		return;
	for (int good = 0, bad = 1; good < 2 && bad < 3;) {
		cr_log_warn("%s %s: late or early:\n%s", probe->program, way_name(how),
		            result->out);
		run_probe(probe, how, result);
		if (strcmp(result->out, wanted) == 0)
			good++;
		else if (differ_in_lengths(result->out, wanted))
			bad++;
		else
			return;
	}
}

/* The line of text, without its end; length: how far it goes with it. */
static void first_line(const char *text, char *line, size_t size, size_t *length)
{
	size_t end = strcspn(text, "\n");

	snprintf(line, size, "%.*s", (int)end, text);
	*length = end + (text[end] != '\0');
}

/* True if each line is, but for lengths of time, the one that stands there in plain or in held. */
static bool is_between(const char *text, const char *plain, const char *held)
{
	char line[512], of_plain[512], of_held[512];
	size_t length;

	while (*text != '\0') {
		first_line(text, line, sizeof(line), &length);
		text += length;
		first_line(plain, of_plain, sizeof(of_plain), &length);
		plain += length;
		first_line(held, of_held, sizeof(of_held), &length);
		held += length;
		if (strcmp(line, of_plain) != 0 && strcmp(line, of_held) != 0 &&
		    !differ_in_lengths(line, of_plain) && !differ_in_lengths(line, of_held))
			return false;
	}
	return *plain == '\0' && *held == '\0';
}

static void hold_against(const struct probe *probe, enum how how, const struct result *result,
                         const char *wanted)
{
	const char *name = probe->program, *way = way_name(how);

	if (result->exited && result->code == CANNOT)
		cr_skip_test("%s: this machine does not allow it", name);
	cr_assert(result->exited,
	          "%s %s: ended by signal %d after %ld ms\nstdout:\n%s\nstderr:\n%s", name, way,
	          result->code, (long)result->ms, result->out, result->err);
	cr_expect(result->code == 0, "%s %s: exit code %d", name, way, result->code);
	cr_expect(strcmp(result->out, wanted) == 0, "%s %s: printed\n%s\nwanted\n%s\nrecords\n%s",
	          name, way, result->out, wanted, result->records);
	cr_expect(result->err[0] == '\0', "%s %s: stderr: %s", name, way, result->err);
	if (how == OFF || how == BARE)
		cr_expect(result->record_count == 0, "%s %s: records:\n%s", name, way,
		          result->records);
	cr_expect(records_with(result, "event=config-error") == 0, "%s", result->records);
	if (how == OBSERVE && !probe->forged)
		cr_expect(records_with(result, "event=throttled") == 0, "%s", result->records);
}

const struct result *expect(const struct probe *probe, const char *plain, const char *held)
{
	static struct result result;

	for (enum how how = BARE; how < WAYS; how++) {
		const char *wanted = how == ENFORCE && held != NULL ? held : plain;

		run_to_say(probe, how, &result, wanted);
		for (int more = probe->chance && wanted == held ? 3 : 0;
		     more > 0 && strcmp(result.out, wanted) != 0 &&
		     is_between(result.out, plain, held);
		     more--)
			run_to_say(probe, how, &result, wanted);
		hold_against(probe, how, &result, wanted);
	}
	return &result;
}

const struct result *expect_same(const struct probe *probe)
{
	static struct result bare;

	run_probe(probe, BARE, &bare);
	cr_assert(bare.out[0] != '\0' || bare.code == CANNOT);
	return expect(probe, bare.out, NULL);
}
