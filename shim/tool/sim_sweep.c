/* SPDX-License-Identifier: MIT */
/* What a sweep says, as a list of values. */
#include "tool/sim_sweep.h"

#include "config/keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "/s" for a rate, where the value says no unit. */
static const char *unit_of(const char *name)
{
	const char *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
	const struct key *key = key_find(SECTION_DESTINATION, last);
	char section[SIM_NAME];

	if (sim_setting_is_policy(name))
		return key && key->type == TYPE_RATE ? "/s" : "";
	snprintf(section, sizeof(section), "%.*s", (int)strcspn(name, "."), name);
	return sim_key_is_rate(section, last) ? "/s" : "";
}

static bool add(struct sim_sweep *sweep, const char *value, const char *unit)
{
	bool has_unit = value[strspn(value, "0123456789.")] != '\0';
	bool is_number = strspn(value, "0123456789.") > 0;

	if (sweep->count >= SIM_SWEEP_VALUES || !*value)
		return false;
	return snprintf(sweep->values[sweep->count++], sizeof(sweep->values[0]), "%s%s", value,
	                is_number && !has_unit ? unit : "") < (int)sizeof(sweep->values[0]);
}

/* "LOW..HIGH", the unit behind either, and perhaps ":POINTS". */
static bool add_range(struct sim_sweep *sweep, const char *text, const char *unit)
{
	const char *first = text;
	char *end, *after, value[24];
	double low = strtod(text, &end), high;
	const char *own = unit;
	long points = SIM_SWEEP_POINTS;
	bool by_factor;

	text = strstr(text, "..") + 2; /* not from end: "1." is a number */
	high = strtod(text, &after);
	if (after == text || end == first || low < 0 || high <= low)
		return false;
	text = after;
	after = strchr(text, ':');
	if (after)
		points = strtol(after + 1, &end, 10);
	if (points < 2 || points > SIM_SWEEP_VALUES || (after && *end))
		return false;
	if (after ? after > text : *text)
		own = text;
	by_factor = low > 0 && high > 10 * low;
	for (long i = 0; i < points; i++) {
		double part = (double)i / (double)(points - 1);
		double at = by_factor ? low * pow(high / low, part) : low + (high - low) * part;

		snprintf(value, sizeof(value), "%.4g%.*s", at,
		         after && own == text ? (int)(after - text) : 8, own);
		if (!add(sweep, value, ""))
			return false;
	}
	return true;
}

static bool read_values(struct sim_sweep *sweep, const char *text)
{
	const char *unit = unit_of(sweep->name);
	char value[SIM_NAME];

	if (strstr(text, "..") && !strchr(text, ','))
		return add_range(sweep, text, unit);
	for (;;) {
		size_t n = strcspn(text, ",");

		if (n >= sizeof(value))
			return false;
		snprintf(value, sizeof(value), "%.*s", (int)n, text);
		if (!add(sweep, value, unit))
			return false;
		if (!text[n])
			return true;
		text += n + 1;
	}
}

bool sim_sweep_read(struct sim_sweep *sweep, const char *text, FILE *err)
{
	const char *sign = strchr(text, '=');

	memset(sweep, 0, sizeof(*sweep));
	if (sign && sign > text && (size_t)(sign - text) < sizeof(sweep->name)) {
		snprintf(sweep->name, sizeof(sweep->name), "%.*s", (int)(sign - text), text);
		if (read_values(sweep, sign + 1))
			return true;
	}
	fprintf(err,
	        "retrybudget: simulate: '%s' is no sweep; write KEY=VALUE,VALUE or KEY=LOW..HIGH "
	        "or KEY=LOW..HIGH:POINTS, with at most 32 values, as in floor=0.1..5\n",
	        text);
	return false;
}
