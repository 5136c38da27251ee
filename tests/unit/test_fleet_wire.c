/* SPDX-License-Identifier: MIT */
/* What travels between the daemon and the ledger. */
#include "agent/fleet_wire.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct wire_batch batch;

/* As doubles, the lowest byte first; this test runs on machines that have them so. */
static double number_of(const unsigned char *bytes, int i)
{
	double value;

	memcpy(&value, bytes + (size_t)i * 8, sizeof(value));
	return value;
}

Test(fleet_wire, a_request_says_all_in_the_order_of_the_library)
{
	static const char *const words[] = {
		"FCALL",        "retrybudget_1_sync", "3",
		"{rb}:host:h1", "{rb}:ledger:db",     "{rb}:ledger:web"
	};
	static const double said[] = { 1, 2, 3, 4, 9, 5, 7, -1, 6, 8, 10, 11, 12, 13, 14, 15 };
	const struct ledger_ask ask = { 1,          2,  3,  4,  { 5, 6 }, { 7, 8 },
		                        { -1, 10 }, 11, 12, 13, 14,       15 };
	const struct ledger_ask other = { .life = INT64_MAX, .success_age = -1 };

	cr_assert(wire_batch(&batch, "rb", "h1"));
	cr_assert(wire_batch_add(&batch, "rb", "db", &ask, 9));
	cr_assert(wire_batch_add(&batch, "rb", "web", &other, 0));
	wire_batch_end(&batch);
	cr_assert_eq(batch.count, 8);
	for (int i = 0; i < 6; i++) {
		cr_assert_eq(batch.lengths[i], strlen(words[i]));
		cr_assert(memcmp(batch.argv[i], words[i], batch.lengths[i]) == 0);
	}
	for (int i = 0; i < WIRE_ASK; i++)
		cr_assert_eq(number_of(batch.asks[0], i), said[i]);
	cr_assert_eq(batch.argv[6], (const char *)batch.asks[0]);
	cr_assert_eq(batch.lengths[7], sizeof(batch.asks[1]));
	cr_assert_eq(number_of(batch.asks[1], 0), 9007199254740991.0,
	             "no more than a double holds");
	cr_assert_eq(number_of(batch.asks[1], 15), -1);
}

Test(fleet_wire, a_name_that_is_too_long_is_not_cut)
{
	char label[WIRE_KEY + 1];
	const struct ledger_ask ask = { 0 };

	memset(label, 'x', sizeof(label) - 1);
	label[sizeof(label) - 1] = '\0';
	cr_assert_not(wire_batch(&batch, "rb", label));
	cr_assert(wire_batch(&batch, "rb", "h"));
	cr_assert_not(wire_batch_add(&batch, "rb", label, &ask, 0));
	cr_assert_eq(batch.labels, 0);
}

Test(fleet_wire, a_request_has_room_for_all_labels_and_no_more)
{
	const struct ledger_ask ask = { 0 };

	cr_assert(wire_batch(&batch, "rb", "h"));
	for (int i = 0; i < CONFIG_POLICIES; i++)
		cr_assert(wire_batch_add(&batch, "rb", "x", &ask, 0));
	cr_assert_not(wire_batch_add(&batch, "rb", "x", &ask, 0));
	wire_batch_end(&batch);
	cr_assert_eq(batch.count, 4 + 2 * CONFIG_POLICIES);
}

static struct ledger_answer answer;
static struct fleet_rule rule;
static bool has_rule;

static bool read_back(const double *numbers, size_t count)
{
	return wire_answer((const char *)numbers, count * 8, &answer, &rule, &has_rule);
}

Test(fleet_wire, an_answer_is_read_with_its_rule_or_without)
{
	const double numbers[19] = { 0,  1,    2, 3,      1,    5000,  1, 7,      8,    -1,
		                     10, 3000, 2, 100000, 1000, 10000, 5, 900000, 20000 };

	cr_assert(read_back(numbers, 12));
	cr_assert_not(has_rule);
	cr_assert_eq(answer.grant[PURSE_TOKENS], 5000);
	cr_assert_eq(answer.success_age, -1);
	cr_assert_eq(answer.failing, 10);
	cr_assert_eq(answer.earned, 3000);
	cr_assert(read_back(numbers, 19));
	cr_assert(has_rule);
	cr_assert_eq(rule.generation, 2);
	cr_assert_eq(rule.lifetime, 20000);
}

Test(fleet_wire, what_is_no_answer_is_none)
{
	static const double strange[] = {
		NAN, INFINITY, -INFINITY, 0.5, 1e300, 9007199254740992.0
	};
	double numbers[19] = { 0, 1, 2, 3, 1, 5000, 1, 7, 8, -1, 10, 0, 2 };

	cr_assert_not(read_back(numbers, 0));
	cr_assert_not(read_back(numbers, 1));
	cr_assert_not(read_back(numbers, 13));
	cr_assert_not(wire_answer((const char *)numbers, 95, &answer, &rule, &has_rule));
	cr_assert_not(read_back(numbers, 19), "a rule out of range");
	for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++) {
		numbers[5] = strange[i];
		cr_assert_not(read_back(numbers, 12), "%g is taken", strange[i]);
	}
	numbers[5] = 0;
	numbers[0] = 7;
	cr_assert_not(read_back(numbers, 12));
	numbers[0] = LEDGER_NO_RULE;
	cr_assert(read_back(numbers, 1));
	cr_assert_eq(answer.status, LEDGER_NO_RULE);
}
