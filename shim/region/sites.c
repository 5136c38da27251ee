/* SPDX-License-Identifier: MIT */
/* The last call sites of a destination, as text in its slot. */
#include "region/sites.h"

#include <string.h>

/* Whole frames alone. */
static size_t cut(const char *site)
{
	size_t n = strnlen(site, REGION_SITE);

	if (n < REGION_SITE)
		return n;
	for (n = REGION_SITE - 1; n > 0 && site[n] != ','; n--)
		;
	return n;
}

static bool holds(const char *place, const char *site, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (__atomic_load_n(&place[i], __ATOMIC_RELAXED) != site[i])
			return false;
	return __atomic_load_n(&place[n], __ATOMIC_RELAXED) == '\0';
}

void site_keep(struct destination *of, const char *site)
{
	uint64_t number = (uint64_t)LOAD(of->sited);
	size_t n = cut(site);
	char *place = of->sites[number % REGION_SITES];

	if (n == 0)
		return;
	for (int i = 0; i < REGION_SITES; i++)
		if (holds(of->sites[i], site, n))
			return;
	for (size_t i = 0; i < n; i++)
		__atomic_store_n(&place[i], site[i], __ATOMIC_RELAXED);
	__atomic_store_n(&place[n], '\0', __ATOMIC_RELAXED);
	STORE(of->sited, (int64_t)(number + 1));
}

const char *site_get(const struct destination *of, int back)
{
	uint64_t number = (uint64_t)LOAD(of->sited);

	if (back < 0 || back >= REGION_SITES || number <= (uint64_t)back)
		return NULL;
	return of->sites[(number - 1 - (uint64_t)back) % REGION_SITES];
}
