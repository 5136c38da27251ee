/* SPDX-License-Identifier: MIT */
/* A streak is held back for so long, and no longer; what is refused after that still does not go.
 */
#include "run.h"

#include <criterion/criterion.h>

/* Nothing to pay with. */
#define POLICY                                                                                     \
	"deadline = 1500ms\ncapacity = 1\nstart = 0%\nfloor = 0/s\nearn = 0\nprobe = 12s\n"        \
	"base = 400ms\ncap = 400ms\nfactor = 1\njitter = none\n"

TestSuite(deadline, .fini = discard_scratch);

static void deadline(const char *kind, const char *plain, const char *held)
{
	expect(
	    &(struct probe) {
		.program = "deadline", .arguments = { kind }, .policy = POLICY, .seconds = 60 },
	    plain, held);
}

Test(deadline, ends_the_waits_of_a_streak)
{
	deadline("blocking",
	         "held back: hardly\ncalls: a spin\nother errors: 0\n"
	         "attempts that left the program: more\nserver back: served\n",
	         "held back: until the deadline\ncalls: paced\nother errors: 0\n"
	         "attempts that left the program: the first try\nserver back: served\n");
}

Test(deadline, counts_what_a_jump_has_left)
{
	deadline("jump",
	         "held back: hardly\ncalls: a spin\nother errors: 0\n"
	         "attempts that left the program: more\n",
	         "held back: until the deadline\ncalls: paced\nother errors: 0\n"
	         "attempts that left the program: the first try\n");
}

Test(deadline, redirects_instead_of_parking)
{
	deadline("nonblocking", "held back: hardly\nthen redirected: often\nother errors: 0\n",
	         "held back: until the deadline\nthen redirected: often\nother errors: 0\n");
}

Test(deadline, lets_no_more_of_a_crowd_by)
{
	expect(&(struct probe) { .program = "deadline",
	                         .arguments = { "crowd" },
	                         .policy = "deadline = 200ms\ncapacity = 1000\nfloor = 100/s\n"
	                                   "base = 3s\ncap = 3s\nfactor = 1\n[budget]\n"
	                                   "capacity = 1000\n" },
	       "attempts beyond the first tries: many\n", "attempts beyond the first tries: few\n");
}
