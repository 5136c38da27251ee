/* SPDX-License-Identifier: MIT */
/* What one destination has settled says nothing of another that shares its place, as those of a
 * large share do. */
#include "track_fixture.h"

#define unseen_ask acted_unseen_ask
#include "../../shim/conn/unseen.c"

Test(unseen, of_a_large_share_each_asks_for_itself, .init = start_shim)
{
	struct destination *well = &shim_region->first.destinations[5];
	struct destination *fails = &shim_region->first.destinations[6];

	STORE(shim_region->changes, 1);
	STORE(fails->budget.streak, 3);
	/* Full, and so nothing to earn. */
	STORE(shim_region->process.holding, INT64_C(1) << 32 | 1);
	STORE(well->budget.bucket.holding, INT64_C(1) << 32 | 1);
	for (int bit = 0; bit < 8; bit++)
		for (int64_t generation = 0; generation < 8; generation++) {
			STORE(well->generation, generation);
			STORE(fails->generation, 0);
			memset(settled, 0, sizeof(settled));
			cr_expect_not(wants_success(well, 5 + (REGION_CHUNK << bit)));
			cr_expect(wants_success(fails, 5), "chunk %d, generation %d", 1 << bit,
			          (int)generation);
		}
}
