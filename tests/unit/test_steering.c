/* SPDX-License-Identifier: MIT */
/* What an operator asks of a running process, and what becomes of it. */
#include "config/current.h"
#include "config_fixture.h"
#include "region/identity.h"
#include "region/state.h"
#include "region/steering.h"
#include "report/refresh.h"
#include "report/report.h"

#include <errno.h>

static struct region region;
static const struct log_settings silent = { .target = LOG_TARGET_NONE };
static int64_t now = NS_PER_S;

static void start(void)
{
	make_folder();
	shim_use(&region, 0);
	setenv("RETRYBUDGET_CONFIG", path, 1);
	unsetenv("RETRYBUDGET");
	unsetenv("RETRYBUDGET_LOG");
	report_settings(&silent, &region);
}

TestSuite(steering, .init = start, .fini = remove_folder);

static void begin_with(const char *text)
{
	write_bytes(text, strlen(text));
	config_start(false);
	identity_write(&region, SCOPE_PROCESS, config_current());
}

static int64_t ask(int32_t mode, bool reload, uint32_t number)
{
	struct steering_request request = { .mode = mode, .reload = reload, .number = number };
	int64_t word = steering_word(&request);

	STORE(region.steering.request, word);
	return word;
}

/* Time passes, and the process comes by. */
static void look_in(void)
{
	now += NS_PER_S;
	errno = 77;
	refresh(now);
	cr_expect_eq(errno, 77);
}

static int answer(void)
{
	return (int)((uint64_t)LOAD(region.steering.answer) & STEERING_CHECK);
}

static int32_t mode_of(int policy)
{
	return config_current()->policies[policy].mode;
}

Test(steering, words_come_back)
{
	for (int32_t mode = MODE_OFF; mode <= STEERING_AS_IN_FILE; mode++)
		for (int reload = 0; reload < 2; reload++) {
			struct steering_request one = { mode, reload,
				                        0xdeadbeefu + (uint32_t)mode },
						two;

			cr_assert_eq(steering_read(steering_word(&one), &two), STEERING_GOOD);
			cr_assert_eq(two.mode, one.mode);
			cr_assert_eq(two.reload, one.reload);
			cr_assert_eq(two.number, one.number);
		}
}

/* Whoever writes it from outside may be seen between any two bytes. */
Test(steering, half_a_word_is_none)
{
	struct steering_request one = { MODE_OFF, false, 0x12345678 },
				two = { MODE_ENFORCE, true, 0x9abcdef0 };
	int64_t before = steering_word(&one), after = steering_word(&two);
	struct steering_request read;

	/* The bytes of the version are the same, so that a cut there is none. */
	for (int cut = 1; cut < 7; cut++) {
		int64_t upper = (int64_t)(UINT64_MAX << 8 * cut);

		cr_expect_eq(steering_read((after & upper) | (before & ~upper), &read),
		             STEERING_TORN);
		cr_expect_eq(steering_read((before & upper) | (after & ~upper), &read),
		             STEERING_TORN);
		cr_expect_eq(steering_read(after & upper, &read), STEERING_TORN);
	}
	cr_expect_eq(steering_read(0, &read), STEERING_TORN);
}

Test(steering, modes_come_and_go)
{
	begin_with("[retrybudget]\nmode = observe\n"
	           "[destination a]\nmatch = a:1\nmode = enforce\n"
	           "[destination b]\nmatch = b:1\nmode = off\n");
	ask(MODE_OFF, false, 1);
	look_in();
	cr_expect_eq(answer(), STEERING_TAKEN);
	cr_expect_eq(region.identity.mode, MODE_OFF);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(mode_of(i), MODE_OFF);
	ask(MODE_ENFORCE, false, 2);
	look_in();
	cr_expect_eq(mode_of(0), MODE_ENFORCE);
	cr_expect_eq(mode_of(1), MODE_ENFORCE);
	cr_expect_eq(mode_of(2), MODE_OFF, "a section that says less stays as it is");
	ask(MODE_OBSERVE, false, 3);
	look_in();
	cr_expect_eq(mode_of(1), MODE_OBSERVE);
	cr_expect_eq(mode_of(2), MODE_OFF);
	ask(STEERING_AS_IN_FILE, false, 4);
	look_in();
	cr_expect_eq(config_current()->general.mode, MODE_OBSERVE);
	cr_expect_eq(mode_of(0), MODE_OBSERVE);
	cr_expect_eq(mode_of(1), MODE_ENFORCE);
	cr_expect_eq(region.identity.mode, MODE_OBSERVE);
	cr_expect_eq((uint32_t)LOAD(region.steering.takers), 1);
	cr_expect_eq(LOAD(region.steering.takers) >> 32, 4);
}

Test(steering, goes_over_the_environment_and_outlives_a_new_file)
{
	setenv("RETRYBUDGET", "observe", 1);
	begin_with("[log]\ntrace = 1\n");
	cr_assert_eq(mode_of(0), MODE_OBSERVE);
	ask(MODE_ENFORCE, false, 1);
	look_in();
	cr_expect_eq(mode_of(0), MODE_ENFORCE);
	write_bytes("[log]\ntrace = 2\n[admission x]\nlisten = :80\n", 43);
	look_in();
	cr_expect_eq(config_current()->log.trace, 2);
	cr_expect_eq(mode_of(0), MODE_ENFORCE);
	cr_expect_eq(config_current()->admissions[0].mode, MODE_ENFORCE);
	ask(STEERING_AS_IN_FILE, false, 2);
	look_in();
	cr_expect_eq(mode_of(0), MODE_OBSERVE);
	cr_expect_eq(config_current()->admissions[0].mode, MODE_OBSERVE);
}

Test(steering, reload_reads_what_would_not_be_looked_at)
{
	begin_with("[retrybudget]\nreload = 0\n[log]\ntrace = 1\n");
	write_bytes("[retrybudget]\nreload = 0\n[log]\ntrace = 2\n", 41);
	look_in();
	cr_expect_eq(config_current()->log.trace, 1);
	ask(STEERING_AS_IN_FILE, true, 1);
	look_in();
	cr_expect_eq(config_current()->log.trace, 2);
	cr_expect_eq(answer(), STEERING_TAKEN);
	write_bytes("[log]\ntrace = 3\nflor = 1\n", 25);
	ask(STEERING_AS_IN_FILE, true, 2);
	look_in();
	cr_expect_eq(config_current()->log.trace, 3);
	cr_expect_eq(answer(), STEERING_FLAWED);
	cr_assert_eq(unlink(path), 0);
	ask(MODE_OFF, true, 3);
	look_in();
	cr_expect_eq(answer(), STEERING_UNREAD);
	cr_expect_eq(config_current()->log.trace, 3, "what it said last holds");
	cr_expect_eq(mode_of(0), MODE_OFF, "and the mode is taken all the same");
}

Test(steering, a_file_that_never_was_is_no_failure)
{
	cr_assert(access("/etc/retrybudget.ini", F_OK) != 0, "this machine has one");
	unsetenv("RETRYBUDGET_CONFIG");
	config_start(false);
	identity_write(&region, SCOPE_PROCESS, config_current());
	ask(MODE_OBSERVE, true, 1);
	look_in();
	cr_expect_eq(answer(), STEERING_ABSENT);
	cr_expect_eq(mode_of(0), MODE_OBSERVE, "the mode is taken");
}

Test(steering, what_is_unknown_is_refused)
{
	struct steering_request request = { STEERING_AS_IN_FILE + 1, false, 5 };

	begin_with("");
	STORE(region.steering.request, steering_word(&request));
	look_in();
	cr_expect_eq(answer(), STEERING_REFUSED);
	cr_expect_eq(steering_number(LOAD(region.steering.answer)), 5);
	cr_expect_eq(LOAD(region.steering.takers), 0);
	cr_expect_eq(mode_of(0), MODE_ENFORCE);
	cr_expect_not(steering_waits(&region));
}

Test(steering, garbage_is_left_alone)
{
	begin_with("");
	for (uint64_t i = 1; i < 200; i++) {
		STORE(region.steering.request, (int64_t)(i * UINT64_C(0x5851f42d4c957f2d)));
		cr_assert_not(steering_asks(&region), "no wait ends for it");
		look_in();
	}
	cr_expect_eq(mode_of(0), MODE_ENFORCE);
	ask(MODE_OFF, false, 9);
	look_in();
	cr_expect_eq(mode_of(0), MODE_OFF);
}

/* Two slots are read by others: a third change within a moment would write over one of them. */
Test(steering, not_faster_than_slots_last)
{
	const struct config *first;

	begin_with("");
	ask(MODE_OBSERVE, false, 1);
	look_in();
	first = config_current();
	for (uint32_t i = 0; i < 100; i++) {
		ask(i & 1 ? MODE_OFF : MODE_ENFORCE, false, 10 + i);
		refresh(now + i * NS_PER_MS);
		cr_assert_eq(config_current(), first);
	}
	look_in();
	cr_expect_eq(mode_of(0), MODE_OFF);
	cr_expect_not(steering_waits(&region));
}

Test(steering, counted_once_in_a_process)
{
	int64_t word;

	begin_with("");
	word = ask(MODE_OFF, false, 1);
	look_in();
	cr_expect_not(steering_done(&region, word, STEERING_TAKEN));
	look_in();
	cr_expect_eq((uint32_t)LOAD(region.steering.takers), 1);
	STORE(steering_seen, 0); /* another process */
	cr_expect_not(steering_done(&region, word, STEERING_TAKEN), "the first one has told it");
	cr_expect_eq((uint32_t)LOAD(region.steering.takers), 2);
	STORE(steering_seen, 0);
	STORE(region.steering.takers, 0);
	cr_expect(steering_done(&region, word, STEERING_TAKEN));
}
