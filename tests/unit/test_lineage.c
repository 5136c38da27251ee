/* SPDX-License-Identifier: MIT */
/* Lineages: processes of a made-up world, which is compiled into the code in place of the real one.
 */
#include "dest/destinations.h"
#include "sys/thread.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static struct {
	int process, parent, session, asked;
} me;

#define lineage_setup       acted_lineage_setup
#define lineage_of          acted_lineage_of
#define lineage_failed      acted_lineage_failed
#define lineage_answered    acted_lineage_answered
#define lineage_spins       acted_lineage_spins
#define lineage_held        acted_lineage_held
#define destination_slot(d) 7
#define thread_process()    me.process
#define getppid()           (me.asked++, me.parent)
#define getsid(pid)         (me.asked++, me.session)
#include "../../shim/dest/lineage.c"

#define NOW     (INT64_C(1000000) * NS_PER_S)
#define HORIZON (60 * NS_PER_S)
#define MS(n)   ((int64_t)(n)*NS_PER_MS)

static struct destination here;

static void be(uint64_t of_program, int process, int parent, int session, uint64_t of_service)
{
	program = command = of_program;
	service = of_service;
	me.process = process;
	me.parent = parent;
	me.session = session;
}

static void start(void)
{
	memset(&here, 0, sizeof(here));
	named = false;
}

static enum lineage first_try(int64_t now)
{
	return lineage_of(&here, 7, HORIZON, now);
}

/* It may have locked itself in meanwhile, and been ended for asking. */
Test(lineage, a_process_asks_once_and_its_forked_children_for_themselves, .init = start)
{
	be(1, 100, 50, 40, 0);
	lineage_setup(false);
	me.asked = 0;
	me.parent = 1; /* has ended */
	lineage_failed(&here, NOW);
	cr_expect_eq(me.asked, 0);
	me.process = 101;
	me.parent = 50; /* another of the same, started by the same */
	cr_expect_eq(first_try(NOW + 1), LINEAGE_SAME);
	cr_expect_eq(me.asked, 2);
}

Test(lineage, of_a_shell_loop_each_process_is_the_same, .init = start)
{
	be(1, 100, 50, 40, 0);
	cr_expect_eq(first_try(NOW), LINEAGE_STRANGER, "nobody has failed");
	lineage_failed(&here, NOW);
	cr_expect_eq(first_try(NOW), LINEAGE_UNKNOWN, "its own story says more");
	for (int process = 101; process < 200; process++) {
		be(1, process, 50, 40, 0);
		cr_expect_eq(first_try(NOW + MS(10 * process)), LINEAGE_SAME);
		lineage_failed(&here, NOW + MS(10 * process));
	}
}

Test(lineage, is_by_parent_session_or_service, .init = start)
{
	be(1, 100, 50, 40, 9);
	lineage_failed(&here, NOW);
	be(1, 101, 50, 41, 0);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "a supervisor's");
	be(1, 102, 51, 40, 0);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "a script's of a script");
	be(1, 103, 52, 42, 9);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "a unit's that is restarted");
	be(1, 104, 53, 43, 0);
	cr_expect_eq(first_try(NOW), LINEAGE_OTHER, "the same program, somewhere else");
	be(1, 105, 53, 43, 8);
	cr_expect_eq(first_try(NOW), LINEAGE_OTHER);
	named = true;
	lineage_failed(&here, NOW);
	be(1, 106, 54, 44, 0);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "but in a share of its own");
}

/* curl of two addresses, say. */
Test(lineage, of_another_command_is_other_work, .init = start)
{
	be(1, 100, 50, 40, 9);
	lineage_failed(&here, NOW);
	be(1, 101, 50, 40, 9);
	command = 7;
	cr_expect_eq(first_try(NOW), LINEAGE_OTHER);
	lineage_failed(&here, NOW);
	be(1, 102, 50, 40, 9);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "the first is remembered beside it");
	be(1, 103, 50, 40, 9);
	command = 7;
	cr_expect_eq(first_try(NOW), LINEAGE_SAME);
	named = true;
	be(1, 104, 53, 43, 0);
	command = 8;
	cr_expect_eq(first_try(NOW), LINEAGE_OTHER, "in a share of its own, too");
}

Test(lineage, that_was_answered_owes_nothing, .init = start)
{
	be(1, 100, 50, 40, 9);
	lineage_failed(&here, NOW);
	command = 7;
	lineage_failed(&here, NOW);
	be(1, 101, 50, 40, 9);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME);
	lineage_answered(&here);
	be(1, 102, 50, 40, 9);
	cr_expect_eq(first_try(NOW), LINEAGE_OTHER, "what comes next is new, of a known program");
	be(1, 103, 50, 40, 9);
	command = 7;
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "that one is not answered");
	/* A process that was answered, failed, and was answered. */
	lineage_answered(&here);
	lineage_failed(&here, NOW);
	lineage_answered(&here);
	be(1, 104, 50, 40, 9);
	command = 7;
	cr_expect_eq(first_try(NOW), LINEAGE_OTHER);
}

Test(lineage, of_another_program_is_a_stranger, .init = start)
{
	be(1, 100, 50, 40, 9);
	lineage_failed(&here, NOW);
	be(2, 101, 50, 40, 9);
	cr_expect_eq(first_try(NOW), LINEAGE_STRANGER);
	lineage_failed(&here, NOW);
	be(2, 102, 50, 40, 9);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "the second time it is none");
	be(1, 103, 50, 40, 9);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "and the first is remembered");
}

Test(lineage, is_forgotten_after_the_horizon, .init = start)
{
	be(1, 100, 50, 40, 0);
	lineage_failed(&here, NOW);
	be(1, 101, 50, 40, 0);
	cr_expect_eq(first_try(NOW + HORIZON - MS(500)), LINEAGE_SAME);
	be(1, 102, 50, 40, 0);
	cr_expect_eq(first_try(NOW + HORIZON + MS(500)), LINEAGE_STRANGER);
}

Test(lineage, that_shares_nothing_is_not_asked, .init = start)
{
	be(0, 100, 50, 40, 0);
	lineage_failed(&here, NOW);
	cr_expect_eq(first_try(NOW), LINEAGE_UNKNOWN);
	for (int i = 0; i < REGION_KIN; i++)
		cr_expect_eq(here.kin[i], 0);
}

Test(lineage, of_many_the_last_ones_are_remembered, .init = start)
{
	for (int i = 0; i < 100; i++) {
		be((uint64_t)i + 1, 100 + i, 50, 40 + i, 0);
		lineage_failed(&here, NOW + MS(200 * i));
	}
	be(100, 300, 50, 1, 0);
	cr_expect_eq(first_try(NOW + MS(20000)), LINEAGE_SAME);
	be(95, 301, 50, 1, 0);
	cr_expect_eq(first_try(NOW + MS(20000)), LINEAGE_SAME);
	be(1, 302, 50, 1, 0);
	cr_expect_eq(first_try(NOW + MS(20000)), LINEAGE_STRANGER);
}

/* Refusals of a row, `gap` ms after the end of the last; held for as long as they are slowed down.
 */
static int spun(int tries, int gap, int held)
{
	int64_t now = NOW;
	int count = 0;

	for (int i = 0; i < tries; i++) {
		if (lineage_spins(&here, now)) {
			count++;
			now += MS(held);
			lineage_held(&here, now);
		}
		now += MS(gap);
	}
	return count;
}

Test(lineage, spins_only_without_a_pause, .init = start)
{
	cr_expect_eq(spun(100, 10, 250), 90, "a shell that forks as fast as it can");
	memset(&here, 0, sizeof(here));
	cr_expect_eq(spun(100, 30, 1000), 90, "the same, parked");
	memset(&here, 0, sizeof(here));
	cr_expect_eq(spun(100, 105, 250), 0, "one that sleeps a tenth of a second");
	here.kin_row = INT64_MAX; /* corrupted */
	cr_expect_eq(spun(10, 105, 250), 0);
	here.kin_row = INT64_MIN;
	cr_expect_eq(spun(10, 105, 250), 0);
}

Test(lineage, of_this_process_can_be_told, .init = start)
{
	lineage_setup(false);
	cr_expect_neq(program, 0);
	cr_expect(is_interpreter("/usr/bin/python3.11") && is_interpreter("bash"));
	cr_expect_not(is_interpreter("/usr/bin/curl"));
}
