/* SPDX-License-Identifier: MIT */
/* Water is poured in until it is all or everybody is full: in each round all who are not get the
 * same, and a round fills somebody or is the last but one. */
#include "tool/fair.h"

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

/* Of claims[] those of one user's place, or all. */
struct pool {
	struct claim *claims;
	size_t count;
	bool of_user;
	size_t place;
};

static bool is_thirsty(const struct pool *pool, size_t i)
{
	return (!pool->of_user || pool->claims[i].place == pool->place) &&
	       pool->claims[i].gets < pool->claims[i].wants;
}

/* By their own count, or whoever stands behind many others would nearly always come first. */
static size_t whose_turn(const struct pool *pool, uint64_t nth)
{
	size_t i = 0;

	while (!is_thirsty(pool, i) || nth-- > 0)
		i++;
	return i;
}

static int64_t pour(const struct pool *pool, int64_t tokens, uint64_t turn)
{
	int64_t left = tokens;

	for (;;) {
		uint64_t thirsty = 0;
		int64_t each;
		size_t first;

		for (size_t i = 0; i < pool->count; i++)
			thirsty += is_thirsty(pool, i);
		if (thirsty == 0 || left <= 0)
			return tokens - left;
		first = whose_turn(pool, turn % thirsty);
		each = greater(left / (int64_t)thirsty, 1);
		for (size_t n = 0; n < pool->count && left > 0; n++) {
			size_t i = (first + n) % pool->count;
			struct claim *claim = &pool->claims[i];
			int64_t more;

			if (!is_thirsty(pool, i))
				continue;
			more = lesser(lesser(each, left), claim->wants - claim->gets);
			claim->gets += more;
			left -= more;
		}
	}
}

/* One claim a user, of what all of his want together; each of his is told its place. Returns how
 * many there are. */
static size_t sum_up(struct claim *claims, size_t count, struct claim *users, size_t room)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		while (at < found && users[at].user != claims[i].user)
			at++;
		if (at == room)
			at = room - 1; /* the last place is all the others' */
		if (at == found) {
			users[at] = (struct claim) { .user = claims[i].user };
			found++;
		}
		claims[i].place = at;
		add_to(&users[at].wants, claims[i].wants);
	}
	return found;
}

int64_t fair_divide(struct claim *claims, size_t count, int64_t tokens, uint64_t turn)
{
	struct claim users[FAIR_USERS];
	size_t found = sum_up(claims, count, users, FAIR_USERS);
	int64_t given = 0;

	for (size_t i = 0; i < count; i++)
		claims[i].gets = 0;
	(void)pour(&(struct pool) { users, found, false, 0 }, tokens, turn);
	/* By another step than the users, or the turn of one would always be that of the same of
	 * his cells. */
	for (size_t i = 0; i < found; i++)
		given +=
		    pour(&(struct pool) { claims, count, true, i }, users[i].gets, turn / found);
	return given;
}

void fair_lend(struct claim *claims, size_t count, int64_t tokens, uint64_t turn)
{
	tokens -= fair_divide(claims, count, tokens, turn);
	for (size_t i = 0; i < count; i++) {
		struct claim *claim = &claims[i];

		claim->before = claim->gets;
		claim->wants = claim->in_use ? greater(DEMAND_STANDING - claim->gets, 0) : 0;
	}
	(void)fair_divide(claims, count, tokens, turn);
	for (size_t i = 0; i < count; i++)
		claims[i].gets += claims[i].before;
}

int64_t demand_most(int64_t per_second, int64_t time)
{
	return (int64_t)((double)per_second * (double)time / NS_PER_S);
}
