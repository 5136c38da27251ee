/* SPDX-License-Identifier: MIT */
/* Lineages: processes of a made-up world, which is compiled into the code in place of the real one.
 */
#include "dest/destinations.h"
#include "region/state.h"
#include "sys/thread.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static struct {
	int process, parent, session, asked;
} me;
static struct region world;

#define lineage_setup       acted_lineage_setup
#define lineage_of          acted_lineage_of
#define lineage_failed      acted_lineage_failed
#define lineage_answered    acted_lineage_answered
#define lineage_spins       acted_lineage_spins
#define lineage_held        acted_lineage_held
#define lineage_is_worker   acted_lineage_is_worker
#define destination_slot(d) ((void)(d), 7)
#define shim_region         (&world)
#define thread_process()    me.process
#define getppid()           (me.asked++, me.parent)
#define getsid(pid)         (me.asked++, me.session)
#include "../../shim/dest/lineage.c"

#define NOW     (INT64_C(1000000) * NS_PER_S)
#define HORIZON (60 * NS_PER_S)
#define MS(n)   ((int64_t)(n)*NS_PER_MS)

static struct destination here;

static void be(uint64_t of_program, int process, int parent, int session, uint64_t of_unit)
{
	program = command = of_program;
	unit = of_unit;
	me.process = process;
	me.parent = parent;
	me.session = session;
}

static void start(void)
{
	memset(&here, 0, sizeof(here));
	memset(world.parents, 0, sizeof(world.parents));
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
	lineage_failed(&here, NOW, NOW);
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
	lineage_failed(&here, NOW, NOW);
	cr_expect_eq(first_try(NOW), LINEAGE_UNKNOWN, "its own tries say more");
	for (int process = 101; process < 200; process++) {
		be(1, process, 50, 40, 0);
		cr_expect_eq(first_try(NOW + MS(10 * process)), LINEAGE_SAME);
		lineage_failed(&here, NOW + MS(10 * process), NOW + MS(10 * process));
	}
}

Test(lineage, is_by_parent_session_or_unit, .init = start)
{
	be(1, 100, 50, 40, 9);
	lineage_failed(&here, NOW, NOW);
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
	lineage_failed(&here, NOW, NOW);
	be(1, 106, 54, 44, 0);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "but in a share of its own");
}

/* curl of two addresses, say. */
Test(lineage, of_another_command_is_other_work, .init = start)
{
	be(1, 100, 50, 40, 9);
	lineage_failed(&here, NOW, NOW);
	be(1, 101, 50, 40, 9);
	command = 7;
	cr_expect_eq(first_try(NOW), LINEAGE_OTHER);
	lineage_failed(&here, NOW, NOW);
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
	lineage_failed(&here, NOW, NOW);
	command = 7;
	lineage_failed(&here, NOW, NOW);
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
	lineage_failed(&here, NOW, NOW);
	lineage_answered(&here);
	be(1, 104, 50, 40, 9);
	command = 7;
	cr_expect_eq(first_try(NOW), LINEAGE_OTHER);
}

Test(lineage, of_another_program_is_a_stranger, .init = start)
{
	be(1, 100, 50, 40, 9);
	lineage_failed(&here, NOW, NOW);
	be(2, 101, 50, 40, 9);
	cr_expect_eq(first_try(NOW), LINEAGE_STRANGER);
	lineage_failed(&here, NOW, NOW);
	be(2, 102, 50, 40, 9);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "the second time it is none");
	be(1, 103, 50, 40, 9);
	cr_expect_eq(first_try(NOW), LINEAGE_SAME, "and the first is remembered");
}

Test(lineage, is_forgotten_after_the_horizon, .init = start)
{
	be(1, 100, 50, 40, 0);
	lineage_failed(&here, NOW, NOW);
	be(1, 101, 50, 40, 0);
	cr_expect_eq(first_try(NOW + HORIZON - MS(500)), LINEAGE_SAME);
	be(1, 102, 50, 40, 0);
	cr_expect_eq(first_try(NOW + HORIZON + MS(500)), LINEAGE_STRANGER);
}

Test(lineage, that_shares_nothing_is_not_asked, .init = start)
{
	be(0, 100, 50, 40, 0);
	lineage_failed(&here, NOW, NOW);
	cr_expect_eq(first_try(NOW), LINEAGE_UNKNOWN);
	for (int i = 0; i < REGION_KIN; i++)
		cr_expect_eq(here.kin[i], 0);
}

Test(lineage, of_many_the_last_ones_are_remembered, .init = start)
{
	for (int i = 0; i < 100; i++) {
		be((uint64_t)i + 1, 100 + i, 50, 40 + i, 0);
		lineage_failed(&here, NOW + MS(200 * i), NOW + MS(200 * i));
	}
	be(100, 300, 50, 1, 0);
	cr_expect_eq(first_try(NOW + MS(20000)), LINEAGE_SAME);
	be(95, 301, 50, 1, 0);
	cr_expect_eq(first_try(NOW + MS(20000)), LINEAGE_SAME);
	be(1, 302, 50, 1, 0);
	cr_expect_eq(first_try(NOW + MS(20000)), LINEAGE_STRANGER);
}

/* Each process of a loop, of that command and parent, makes its first try, is refused, and ends;
 * the next one does `gap` ms later. Returns how many were seen to spin. */
static int loop_of(uint64_t of_command, int parent, int session, int tries, int gap, int64_t from)
{
	static int process = 1000;
	int spun = 0;

	for (int i = 0; i < tries; i++) {
		int64_t now = from + MS(gap * i);

		be(1, process++, parent, session, 0);
		at_start.at = now - MS(1);
		command = of_command;
		if (first_try(now) == LINEAGE_SAME && lineage_spins(&here, now, now))
			spun++;
		lineage_failed(&here, 0, now);
	}
	return spun;
}

static int loop(uint64_t of_command, int parent, int session, int tries, int64_t from)
{
	return loop_of(of_command, parent, session, tries, 20, from);
}

Test(lineage, spins_where_its_processes_follow_each_other, .init = start)
{
	cr_expect_eq(loop(1, 50, 40, 100, NOW), 89, "the first is a stranger, and ten make a row");
	start();
	cr_expect_geq(loop_of(1, 50, 40, 200, 3, NOW), 140, "as fast as they can");
}

/* Of two at the same destination neither breaks nor prolongs the row of the other. */
Test(lineage, has_a_row_of_its_own, .init = start)
{
	int spun = 0;

	for (int i = 0; i < 30; i++) {
		/* Each time a second loop is as far as it ever comes, or further. */
		spun += loop(1, 50, 40, 1, NOW + MS(20 * i));
		spun += loop(2, 60, 41, 1, NOW + MS(20 * i + 10));
	}
	cr_expect_eq(spun, 2 * 19, "two loops: %d of 60", spun);
	/* A job that cron starts each minute tries once, here, and was refused then. */
	loop(3, 70, 42, 1, NOW);
	cr_expect_eq(loop(3, 70, 43, 1, NOW + MS(590)), 0, "a job beside them");
}

/* By their parent some processes know each other, and all by their session: one row. */
Test(lineage, has_one_row_however_its_processes_are_started, .init = start)
{
	int spun = 0;

	for (int i = 0; i < 40; i++)
		spun += loop(1, 50 + i / 2, 40, 1, NOW + MS(20 * i));
	cr_expect_eq(spun, 29, "%d of 40", spun);
}

/* At one moment, by a shell that waits for all of them. */
Test(lineage, of_those_that_start_together_is_no_loop, .init = start)
{
	loop(1, 50, 40, 2, NOW);
	for (int forked = 0; forked < 2; forked++)
		for (int i = 0, spun = 0; i < 20; i++) {
			int64_t now = NOW + MS(1000 * forked + 20 * i + 200);

			be(1, 2000 + i, 50, 40, 0);
			at_start.process = forked ? 1999 : 2000 + i;
			at_start.at = NOW + MS(1000 * forked + 190);
			spun += lineage_spins(&here, now, now);
			lineage_failed(&here, 0, now);
			/* When one was forked nobody knows: a loop must not go unseen. */
			cr_expect_eq(spun, forked && i >= 10 ? i - 9 : 0, "%d, %d", forked, i);
		}
}

/* Loops of one unit, each of a parent and a session of its own; or of one session. */
static struct loop {
	int64_t next;
	int pause, tries, spun; /* ms, after its last process was told */
} loops[31];
static bool are_a_unit;

static void start_loops(int pause)
{
	start();
	for (int i = 0; i < 31; i++)
		loops[i] = (struct loop) { .next = NOW + MS(33 * i), .pause = pause };
}

/* Makes the next try of that loop, which is refused, or parked for a second if it spins. */
static void try_next(int loop, int64_t now)
{
	static int process = 5000;
	int64_t told = now;

	be(1, process++, 100 + loop, are_a_unit ? 300 + loop : 300, are_a_unit ? 9 : 0);
	if (first_try(now) == LINEAGE_SAME && lineage_spins(&here, now, now)) {
		told += MS(1000);
		lineage_held(&here, told);
		loops[loop].spun++;
	}
	lineage_failed(&here, 0, now);
	loops[loop].tries++;
	loops[loop].next = told + MS(loops[loop].pause);
}

/* The first `count` of them. */
static void play_loops(int count, int64_t from, int64_t to)
{
	for (int i = 0; i < 31; i++)
		loops[i].tries = loops[i].spun = 0;
	for (int64_t now = from; now < to; now += MS(1))
		for (int i = 0; i < count; i++)
			if (now >= loops[i].next)
				try_next(i, now);
}

/* Thirty that sleep for a second come 33 ms apart, and are no row, nor make that of another longer.
 */
static void expect_paced(bool one_spins)
{
	int count = 30 + one_spins;

	start_loops(1000);
	loops[30].pause = 20;
	play_loops(count, NOW, NOW + MS(3000)); /* their parents become known */
	play_loops(count, NOW + MS(3000), NOW + MS(23000));
	for (int i = 0; i < 30; i++)
		cr_expect(loops[i].spun == 0 && loops[i].tries >= 19, "%d of %d, in the loop %d",
		          loops[i].spun, loops[i].tries, i);
	cr_expect(!one_spins || (loops[30].spun >= 15 && loops[30].tries <= loops[30].spun + 1),
	          "%d of %d of one that spins", loops[30].spun, loops[30].tries);
}

Test(lineage, that_paces_itself_is_not_held_for_others)
{
	for (int unit_too = 0; unit_too < 2; unit_too++) {
		are_a_unit = unit_too;
		expect_paced(false);
		expect_paced(true);
	}
}

Test(lineage, spins_in_each_of_thirty_loops)
{
	for (int unit_too = 0; unit_too < 2; unit_too++) {
		are_a_unit = unit_too;
		start_loops(20);
		play_loops(30, NOW, NOW + MS(20000));
		for (int i = 0; i < 30; i++)
			cr_expect(loops[i].spun >= 15 && loops[i].tries <= loops[i].spun + 11,
			          "%d of %d, in the loop %d", loops[i].spun, loops[i].tries, i);
	}
}

/* Nobody is parked for so long: the word was corrupted, and is written anew. */
Test(lineage, that_is_told_in_the_far_future_is_told_now, .init = start)
{
	static const int64_t ahead[] = { MS(9000), MS(12000), MS(1000000) };

	for (size_t i = 0; i < sizeof(ahead) / sizeof(*ahead); i++) {
		int64_t told;

		start();
		be(1, 100, 50, 40, 0);
		lineage_failed(&here, 0, NOW + ahead[i]);
		lineage_failed(&here, 0, NOW);
		told = i == 0 ? NOW + ahead[i] : NOW;
		for (int j = 0; j < REGION_PARENTS; j++)
			cr_expect(world.parents[j] == 0 ||
			          (uint32_t)LOAD(world.parents[j]) == time_of(told));
		for (int j = 0; j < REGION_KIN; j++)
			cr_expect(here.kin[j] == 0 || (uint32_t)LOAD(here.kin[j]) == time_of(told));
	}
}

/* The try of a row that goes and fails belongs to it, and so does the wait of one that is held. */
Test(lineage, tells_its_row_what_became_of_a_try, .init = start)
{
	int spun = 0;

	loop(1, 50, 40, 11, NOW);
	for (int i = 0; i < 50; i++) {
		int64_t now = NOW + MS(220 + 300 * i);

		be(1, 100 + i, 50, 40, 0);
		if (lineage_spins(&here, now, now))
			spun++;
		if (i % 2)
			lineage_failed(&here, now, now + MS(250));
		else
			lineage_held(&here, now + MS(250));
	}
	cr_expect_eq(spun, 50);
}

Test(lineage, of_a_forked_process_is_a_workers, .init = start)
{
	be(1, 100, 50, 40, 0);
	lineage_setup(false);
	cr_expect_not(lineage_is_worker());
	me.process = 101;
	cr_expect(lineage_is_worker());
	program = 0;
	cr_expect_not(lineage_is_worker(), "it shares nothing");
}

Test(lineage, of_this_process_can_be_told, .init = start)
{
	lineage_setup(false);
	cr_expect_neq(program, 0);
	cr_expect_neq(command, 0);
	cr_expect_neq(command, program, "it has arguments");
}
