/* SPDX-License-Identifier: MIT */
/* What a program can do with a socket that is throttled, against what it gets of a real failure. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <string.h>

#define CANNOT 77
#define SCENES 17 /* of throttled.c; each has one connect at least that is throttled */
#define MORE   3  /* of three scenes a second one: it does not get through by ending the first */

#define POLICY "base = 1s\nfactor = 1\ncap = 1s\njitter = none\nmin = 1ms\nnonblocking = "

/* All scenes play at once, in processes that share this. */
#define PLENTY "[budget]\ncapacity = 1000\nstart = 100%\n"

TestSuite(throttled, .fini = discard_scratch, .timeout = 180);

static const char *after_line(const char *text)
{
	size_t length = strcspn(text, "\n");

	return text + length + (text[length] != '\0');
}

/* True if one of so many runs has printed the line. */
static bool was_printed(const char *line, const struct result *runs, int n)
{
	size_t length = (size_t)(after_line(line) - line);

	for (int i = 0; i < n; i++)
		for (const char *at = runs[i].out; *at != '\0'; at = after_line(at))
			if (strncmp(at, line, length) == 0)
				return true;
	return false;
}

static bool all_were_printed(const char *text, const struct result *runs, int n)
{
	for (; *text != '\0'; text = after_line(text))
		if (!was_printed(text, runs, n))
			return false;
	return true;
}

static int lines_of(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

static bool is_like(const struct result *shim, const struct result *bare, int runs)
{
	return all_were_printed(shim->out, bare, runs) &&
	       lines_of(shim->out) == lines_of(bare[0].out);
}

static bool is_line_with(const char *line, const char *word)
{
	const char *at = strstr(line, word);

	return at != NULL && at < after_line(line);
}

/* Parked: as a connect that times out. Redirected: as one that is refused. On a busy machine the
 * kernel may make more than one thing of a scene, so a line that one bare run has not printed is
 * looked for in two more, and if it is in none of them the shim is asked once more. */
static void same_as_real(const char *kind, const char *sort)
{
	static struct result bare[3], shim;
	bool refused = strcmp(kind, "refused") == 0;
	int count = 0, runs;
	struct probe probe = {
		.program = "throttled",
		.arguments = { kind, sort },
		.policy = refused ? POLICY "redirect\n" PLENTY : POLICY "park\n" PLENTY,
		.log = "target = syslog\ninterval = 0s\n",
		.seconds = 90,
	};

	run_probe(&probe, BARE, &bare[0]);
	if (bare[0].exited && bare[0].code == CANNOT)
		cr_skip_test("throttled: this machine does not allow it");
	run_probe(&probe, ENFORCE, &shim);
	cr_assert(shim.exited && shim.code == 0, "%s", shim.out);
	for (runs = 1; runs < 3 && !all_were_printed(shim.out, bare, runs); runs++)
		run_probe(&probe, BARE, &bare[runs]);
	if (!is_like(&shim, bare, runs) && strstr(shim.out, "LEFT BEHIND") == NULL) {
		cr_log_warn("%s, once:\n%s", kind, shim.out);
		run_probe(&probe, ENFORCE, &shim);
		cr_assert(shim.exited && shim.code == 0, "%s", shim.out);
	}
	for (int i = 0; i < runs; i++) {
		cr_assert(bare[i].exited && bare[i].code == 0, "bare: %s", bare[i].out);
		cr_expect(strstr(bare[i].out, "LEFT BEHIND") == NULL, "%s", bare[i].out);
	}
	cr_expect(is_like(&shim, bare, runs), "under the shim\n%s\nbare\n%s\n%s", shim.out,
	          bare[0].out, shim.records);
	/* But for the storms, whose connects are redirected. */
	for (const char *at = shim.records; (at = strstr(at, "event=throttled")) != NULL; at++)
		count += is_line_with(at, refused ? " errno=ECONNREFUSED" : " errno=ETIMEDOUT");
	cr_expect(count >= SCENES + MORE, "%d connects of %d scenes throttled:\n%s", count, SCENES,
	          shim.records);
}

Test(throttled, redirected)
{
	same_as_real("refused", NULL);
}

Test(throttled, redirected_v6)
{
	same_as_real("refused", "v6");
}

Test(throttled, redirected_mapped)
{
	same_as_real("refused", "mapped");
}

Test(throttled, redirected_bound)
{
	same_as_real("refused", "bound");
}

Test(throttled, redirected_bound_to_a_port)
{
	same_as_real("refused", "port");
}

Test(throttled, redirected_v6_bound)
{
	same_as_real("refused", "bound6");
}

Test(throttled, parked)
{
	same_as_real("timeout", NULL);
}

Test(throttled, parked_v6)
{
	same_as_real("timeout", "v6");
}

Test(throttled, parked_mapped)
{
	same_as_real("timeout", "mapped");
}

Test(throttled, parked_bound_to_a_port)
{
	same_as_real("timeout", "port");
}

/* The scenes of off_machine.c; end: how the second connect ends where nothing stands against it. */
#define FIRST(name)         name ": first ETIMEDOUT, went out; second "
#define ENDS(name, end, lo) FIRST(name) end ", stayed; lo: " lo "\n"
#define HELD(end)                                                                                  \
	ENDS("v4", end, "SYN, answer")                                                             \
	ENDS("v6", end, "SYN, answer")                                                             \
	ENDS("mapped", end, "SYN, answer")                                                         \
	ENDS("v6only", end, "SYN, answer")                                                         \
	ENDS("v4 bound", end, "SYN, answer")                                                       \
	ENDS("v6 bound", end, "SYN, answer")                                                       \
	ENDS("mapped bound", end, "SYN, answer")                                                   \
	ENDS("v4 device", end, "SYN, answer")                                                      \
	ENDS("v6 device", end, "SYN, answer")                                                      \
	ENDS("mptcp", "ECONNREFUSED later", "SYN, answer")                                         \
	ENDS("v6 off on lo", "ETIMEDOUT later", "SYN, none")                                       \
	ENDS("v6 off on lo, bound", "ETIMEDOUT later", "SYN, none")                                \
	ENDS("v4 lo down", "ETIMEDOUT later", "none, none")                                        \
	ENDS("v6 lo down", "ETIMEDOUT later", "none, none")                                        \
	ENDS("v4 lo never up", "ETIMEDOUT later", "none, none")                                    \
	ENDS("v6 lo never up", "ETIMEDOUT later", "none, none")                                    \
	ENDS("v4 rules", "ETIMEDOUT at once", "none, none")                                        \
	ENDS("v6 rules", "ETIMEDOUT at once", "none, none")                                        \
	ENDS("v4 rules for a mark", "ETIMEDOUT at once", "none, none")                             \
	ENDS("v4 mark without rules", end, "SYN, answer")                                          \
	ENDS("v4 of somebody else", "ETIMEDOUT later", "SYN, none")                                \
	ENDS("v4 of somebody else, answered", "ETIMEDOUT at once", "none, none")                   \
	ENDS("v6 of somebody else", "ETIMEDOUT at once", "none, none")

static void nothing_goes_out(const char *way, const char *wanted)
{
	static struct result bare, shim;
	struct probe probe = { .program = "off_machine", .policy = way, .seconds = 90 };
	int lines = 0;

	run_probe(&probe, BARE, &bare);
	if (bare.exited && bare.code == CANNOT)
		cr_skip_test("off_machine: this machine does not allow it");
	cr_assert(bare.exited && bare.code == 0, "bare: %s", bare.out);
	/* The witness sees what does go out. */
	for (const char *at = bare.out; (at = strstr(at, "later, went out")) != NULL; at++)
		lines++;
	cr_expect(lines == 23, "bare: %s", bare.out);
	run_probe(&probe, ENFORCE, &shim);
	cr_expect(strcmp(shim.out, wanted) == 0, "printed\n%s\nwanted\n%s", shim.out, wanted);
}

Test(throttled, parked_stays_on_the_machine)
{
	nothing_goes_out(POLICY "park\n" PLENTY, HELD("ETIMEDOUT later"));
}

Test(throttled, redirected_stays_on_the_machine)
{
	nothing_goes_out(POLICY "redirect\n" PLENTY, HELD("ECONNREFUSED later"));
}
