/* SPDX-License-Identifier: MIT */
/* What the fast paths ask in one look, summed up from what the file says. */
#include "config_fixture.h"

#include "config/modes.h"

TestSuite(modes, .init = make_folder, .fini = remove_folder);

/* Whether a destination with this line besides is plain. */
static bool is_plain(const char *line)
{
	char text[256];

	snprintf(text, sizeof(text), "[destination one]\nmatch = *:1\n%s\n", line);
	cr_assert_eq(read_text(text), READING_GOOD, "%s: %s", line, said);
	cr_assert_eq(config.policy_count, 2);
	return config.policies[1].plain;
}

Test(modes, a_policy_is_plain_that_asks_for_nothing_beside_the_bucket)
{
	static const char *const special[] = {
		"rate = 5/s",
		"reconnect_spread = 1s",
		"start_spread = 1s",
		"breaker = on",
		"tls = on",
		"strategy = window",
		"strategy = concurrency",
		"refund = on",
		"connect_timeout = 1s",
		"reply_timeout = 1s",
		"preset = aws-2026",
	};

	cr_expect(is_plain("floor = 1/s"));
	cr_expect(is_plain("http = off"));
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		cr_expect_not(is_plain(special[i]), "%s", special[i]);
}
