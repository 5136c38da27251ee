/* SPDX-License-Identifier: MIT */
/* Amounts in tokens and seconds, as the text has them; what is not known is null. */
#include "tool/fleet_json.h"

#if !defined(WITHOUT_HIREDIS) && !defined(WITHOUT_JANSSON)
#include "tool/fleet_hosts.h"
#include "tool/fleet_local.h"
#include "tool/json_put.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

struct json_t *fleet_json_begin(void)
{
	return json_pack("{s:[]}", "labels");
}

static void put_rule(json_t *object, const struct fleet_rule *rule)
{
	json_t *told = json_object();

	put(told, "generation", rule->generation);
	put_thousandths(told, "capacity", rule->capacity);
	put_thousandths(told, "floor_per_s", rule->floor);
	put_thousandths(told, "fleet_reserve_per_s", fleet_reserve(rule));
	put_thousandths(told, "probe_s", rule->probe);
	put(told, "fleet_n_max", rule->hosts);
	put_thousandths(told, "lease_s", rule->lifetime);
	json_object_set_new(object, "rule", told);
}

static void put_ledger(json_t *object, const int64_t *numbers)
{
	const int64_t sum = later(greater(numbers[SHOWN_GOOD], 0), greater(numbers[SHOWN_BAD], 0));
	json_t *told = json_object(), *news = json_object();

	put_thousandths(told, "tokens_free", numbers[SHOWN_TOKENS_FREE]);
	put_thousandths(told, "tokens_leased", numbers[SHOWN_TOKENS_HELD]);
	put_thousandths(told, "tokens_earned", numbers[SHOWN_EARNED]);
	put(told, "probes_free", numbers[SHOWN_PROBES_FREE]);
	put(told, "probes_leased", numbers[SHOWN_PROBES_HELD]);
	put(told, "hosts_waiting",
	    greater(numbers[SHOWN_TOKENS_WANTED], numbers[SHOWN_PROBES_WANTED]));
	put_thousandths(told, "learning_s", numbers[SHOWN_LEARNING]);
	json_object_set_new(object, "ledger", told);
	json_object_set_new(news, "success_age_s",
	                    numbers[SHOWN_SUCCESS_AGE] < 0
	                        ? json_null()
	                        : json_real((double)numbers[SHOWN_SUCCESS_AGE] / 1000));
	json_object_set_new(news, "failing",
	                    sum > 0 ? json_real((double)numbers[SHOWN_BAD] / (double)sum)
	                            : json_null());
	json_object_set_new(object, "news", news);
}

static void put_words(json_t *object, const char *key, const char *text, const char *between)
{
	json_t *list = json_array();
	char words[256], *rest = NULL;

	snprintf(words, sizeof(words), "%s", text);
	for (char *word = strtok_r(words, between, &rest); word;
	     word = strtok_r(NULL, between, &rest))
		json_array_append_new(list, json_string(word));
	json_object_set_new(object, key, list);
}

struct json_t *fleet_json_ledger(struct json_t *all, const char *label,
                                 const struct fleet_server *server, const int64_t *numbers,
                                 int count, const char *differs)
{
	const struct fleet_rule rule = { numbers[0], numbers[1], numbers[2], numbers[3],
		                         numbers[4], numbers[5], numbers[6] };
	const bool has_rule = count == FLEET_SHOWN && fleet_rule_is_valid(&rule);
	json_t *object = json_object();

	put_text(object, "label", label);
	put_text(object, "server", server->name);
	json_object_set_new(object, "answers", json_boolean(count >= 0));
	if (has_rule) {
		put_thousandths(object, "bound_per_s", fleet_bound(&rule, 1000));
		put_rule(object, &rule);
		put_ledger(object, numbers);
		put_words(object, "differs", differs, ",");
	} else {
		json_object_set_new(object, "rule", json_null());
	}
	json_array_append_new(json_object_get(all, "labels"), object);
	return object;
}

struct rows {
	json_t *list;
	int64_t time;
};

static void add_host(void *arg, const char *name, const int64_t *numbers)
{
	struct rows *rows = arg;
	json_t *object = json_object();

	put_text(object, "host", name);
	put_thousandths(object, "tokens_leased", numbers[3]);
	put(object, "probes_leased", numbers[4]);
	put_thousandths(object, "asked_s", greater(rows->time - numbers[2], 0));
	json_array_append_new(rows->list, object);
}

bool fleet_json_hosts(struct json_t *of, struct fleet_server *server, const char *prefix,
                      const char *label, int64_t time)
{
	struct rows rows = { json_array(), time };

	json_object_set_new(of, "hosts", rows.list);
	return fleet_each_host(server, prefix, label, add_host, &rows);
}

/* Whatever they are called: a host may be 12, and a label none. */
static bool is_name(const char *key)
{
	static const char *const names[] = { "label", "host", "server", "differs" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(key, names[i]) == 0)
			return true;
	return false;
}

/* NAME=VALUE or NAME="TEXT"; numbers as such. Returns what is behind it. */
static char *put_pair(json_t *object, char *at)
{
	char *name = at, *equals = strchr(at, '='), *value, *end, *last;
	double number;
	bool is_text;

	if (!equals)
		return at + strlen(at);
	*equals = '\0';
	value = equals + 1;
	is_text = *value == '"' || is_name(name);
	end = *value == '"' ? strchr(++value, '"') : strchr(value, ' ');
	if (!end)
		end = value + strlen(value);
	at = *end ? end + 1 : end;
	*end = '\0';
	errno = 0;
	number = strtod(value, &last);
	if (!is_text && strcmp(value, "none") == 0)
		json_object_set_new(object, name, json_null());
	else if (!is_text && *value && !*last && !errno &&
	         strspn(value, "-.0123456789") == strlen(value))
		json_object_set_new(object, name,
		                    strchr(value, '.') ? json_real(number)
		                                       : json_integer(strtoll(value, NULL, 10)));
	else
		put_text(object, name, value);
	return at + strspn(at, " ");
}

/* Lines that begin with the server or the label stand in lists of such; the others are the host's.
 */
static void put_line(json_t *host, char *line)
{
	json_t *to = host;

	if (strncmp(line, "server=", 7) == 0 || strncmp(line, "label=", 6) == 0) {
		to = json_object();
		json_array_append_new(json_object_get(host, *line == 's' ? "servers" : "labels"),
		                      to);
	}
	while (*line)
		line = put_pair(to, line);
}

void fleet_json_local(struct json_t *all, int port)
{
	char reply[FLEET_LOCAL_REPLY], *line, *rest = NULL;
	const char *why = fleet_local_get(port, reply, sizeof(reply), &line);
	json_t *host =
	    why ? json_pack("{s:s}", "error", why) : json_pack("{s:[],s:[]}", "servers", "labels");

	json_object_set_new(all, "this_host", host);
	if (why)
		return;
	for (line = strtok_r(line, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest))
		put_line(host, line);
}

bool fleet_json_end(struct json_t *all)
{
	const bool good = json_dumpf(all, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF;

	json_decref(all);
	return good;
}
#else
struct json_t *fleet_json_begin(void)
{
	return NULL;
}

struct json_t *fleet_json_ledger(struct json_t *all, const char *label,
                                 const struct fleet_server *server, const int64_t *numbers,
                                 int count, const char *differs)
{
	(void)label;
	(void)server;
	(void)numbers;
	(void)count;
	(void)differs;
	return all;
}

bool fleet_json_hosts(struct json_t *of, struct fleet_server *server, const char *prefix,
                      const char *label, int64_t time)
{
	(void)of;
	(void)server;
	(void)prefix;
	(void)label;
	(void)time;
	return false;
}

void fleet_json_local(struct json_t *all, int port)
{
	(void)all;
	(void)port;
}

bool fleet_json_end(struct json_t *all)
{
	(void)all;
	return false;
}
#endif
