/* SPDX-License-Identifier: MIT */
/*
 * The time of one verdict, in the budget's own objects: no hook, no clock, no wait. Prints the ns
 * per step: a retry that is admitted and paid for, one that the gate refuses, a live success.
 */
#include "budget/budget.h"
#include "budget/streak.h"
#include "../bench.h"

#define STEPS  100000
#define ROUNDS 101

static const struct policy policy = {
	.bucket = { .capacity = 10000, .earn = 100, .floor = 100, .start = PPM_WHOLE },
	.backoff = { .base = 100 * NS_PER_MS,
	             .factor = 2000,
	             .cap = 10 * NS_PER_S,
	             .min = 10 * NS_PER_MS,
	             .jitter = JITTER_EQUAL },
	.sample = PPM_WHOLE,
	.cost = 500,
	.cost_timeout = 1000,
	.probe = 10 * NS_PER_S,
	.mode = MODE_ENFORCE,
};
static const struct bucket_rule process_rule = {
	.capacity = 100000, .earn = 100, .floor = 2000, .start = PPM_WHOLE
};

static struct budget budget;
static struct bucket process;
static const struct account account = {
	.budget = &budget, .policy = &policy, .process = &process, .process_rule = &process_rule
};
static uint64_t seed = 1;
static int64_t now = NS_PER_S;
static volatile int64_t sink; /* keeps the compiler from dropping a step */

/* 6 s at 0.1/s earn what the retry then pays with, and are past the gate, which is half of cap in a
 * streak so old. Who comes more rarely than once in 9 s pays nothing. */
static int64_t admitted(void)
{
	now += 6 * NS_PER_S;
	return budget_verdict(&account, policy.cost, now) == ADMITTED;
}

/* The last admission has left a gate of 5 s: the rounds take a part of it. */
static int64_t refused(void)
{
	now += 1;
	return budget_verdict(&account, policy.cost, now) == REFUSED;
}

static int64_t earned(void)
{
	now += 1;
	sink = budget_success(&account, now);
	return 1;
}

/* The median over the rounds, in ns; every step must have given the verdict it is meant to. */
static double time_of(int64_t (*step)(void))
{
	double each[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		int64_t start = now_ns(), good = 0;

		for (int i = 0; i < STEPS; i++)
			good += step();
		each[round] = (double)(now_ns() - start) / STEPS;
		if (good != STEPS) {
			fprintf(stderr, "verdict: %d of %d steps as meant\n", (int)good, STEPS);
			exit(1);
		}
	}
	return quantile(each, ROUNDS, 0.5);
}

int main(void)
{
	double admit, refuse, earn;

	bucket_start(&budget.bucket, &policy.bucket, now);
	bucket_start(&process, &process_rule, now);
	budget_failure(&account, false, now, now, &seed);
	admit = time_of(admitted);
	refuse = time_of(refused);
	earn = time_of(earned);
	printf("%.1f %.1f %.1f\n", admit, refuse, earn);
	return 0;
}
