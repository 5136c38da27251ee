/* SPDX-License-Identifier: MIT */
/* The bits of destinations, of the largest shares too: none lies outside. */
#include "dest/firsts.h"

#include <criterion/criterion.h>
#include <string.h>

#define BEYOND (REGION_DESTINATIONS / 32)

static struct {
	struct firsts firsts;
	_Atomic(uint32_t) beyond[BEYOND]; /* what a program may have there */
} memory;

Test(firsts, what_is_noted_is_taken_whatever_its_slot)
{
	memset(memory.beyond, 0xff, sizeof(memory.beyond));
	for (uint32_t slot = 0; slot < REGION_DESTINATIONS; slot += 4099) {
		cr_assert(firsts_note(&memory.firsts, slot));
		cr_assert_not(firsts_note(&memory.firsts, slot));
		cr_expect(firsts_take(&memory.firsts, slot), "slot %u", slot);
		cr_expect_not(firsts_take(&memory.firsts, slot), "slot %u", slot);
	}
	for (int i = 0; i < BEYOND; i++)
		cr_assert_eq(memory.beyond[i], UINT32_MAX, "word %d beyond", i);
}
