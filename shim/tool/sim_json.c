/* SPDX-License-Identifier: MIT */
/* What came out, as JSON: a list with an object for each cell. */
#include "tool/sim_json.h"

#include "tool/sim_print.h"

#ifdef WITHOUT_JANSSON

bool sim_print_json(const struct sim_cell *cells, int count, FILE *out)
{
	(void)cells;
	(void)count;
	(void)out;
	fputs("retrybudget: simulate: built without jansson, and so without --json\n", stderr);
	return false;
}

#else

#include <jansson.h>

/* What never came about is null. */
static json_t *metrics_of(const struct sim_result *result)
{
	json_t *object = json_object();

	for (int metric = 0; metric < SIM_METRICS; metric++)
		json_object_set_new(object, sim_metric_name(metric),
		                    result->metric[metric] < 0 ? json_null()
		                                               : json_real(result->metric[metric]));
	return object;
}

static json_t *steps_of(const struct sim_tally *tally)
{
	json_t *list = json_array();

	for (int i = 0; tally->steps && i < tally->step_count; i++)
		json_array_append_new(list, json_pack("[i,i,i,i]", (int)tally->steps[i].requests,
		                                      (int)tally->steps[i].served,
		                                      (int)tally->steps[i].reached,
		                                      (int)tally->steps[i].refused));
	return list;
}

bool sim_print_json(const struct sim_cell *cells, int count, FILE *out)
{
	json_t *list = json_array();
	bool good = list;

	for (int i = 0; i < count && good; i++) {
		json_t *object = metrics_of(&cells[i].result);

		good = json_object_set_new(object, "name", json_string(cells[i].name)) == 0 &&
		       json_object_set_new(
			   object, "step_s",
			   json_real((double)cells[i].scenario.step / (double)NS_PER_S)) == 0 &&
		       json_object_set_new(object, "steps", steps_of(&cells[i].tally)) == 0 &&
		       json_array_append_new(list, object) == 0;
	}
	good = good && json_dumpf(list, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER) == 0;
	json_decref(list);
	fputc('\n', out);
	return good;
}

#endif
