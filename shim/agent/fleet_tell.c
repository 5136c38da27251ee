/* SPDX-License-Identifier: MIT */
/* The state of the fleet's budget at this host, for people and for Prometheus. */
#include "agent/fleet_tell.h"

#include "agent/fleet_label.h"

#include <inttypes.h>

static double seconds(int64_t ns)
{
	return (double)ns / NS_PER_S;
}

static double tokens(int64_t mt)
{
	return (double)mt / FLEET_TOKEN;
}

static void print_link(const struct fleet_link *link, FILE *out)
{
	char name[160];

	link_name(link, name, sizeof(name));
	fprintf(out, "server=%s state=%s connects=%" PRId64 " failures=%" PRId64 " reason=\"%s\"\n",
	        name, link_word(link->state), link->connects, link->failures, link->reason);
}

static void print_label(const struct fleet_label *label, FILE *out)
{
	const struct holder *holder = &label->asker.holder;
	int64_t now = fleet_now();
	char name[160];

	link_name(label->link, name, sizeof(name));
	fprintf(out,
	        "label=%s state=%s server=%s generation=%" PRId64 " epoch=%" PRId64
	        " held=%.3f probes=%" PRId64 " expires_s=%.1f asked_s=%.1f spent=%.3f"
	        " requests=%" PRId64 " lost=%" PRId64 " waiting=%" PRId64 " failing=%.3f",
	        label->label, fleet_word(label->word), name, holder->generation, holder->epoch,
	        tokens(holder->held[PURSE_TOKENS]), holder->held[PURSE_PROBES],
	        seconds(greater(holder->until - now, 0)),
	        label->answered_at > 0 ? seconds(now - label->answered_at) : -1.0,
	        tokens(label->spent), label->requests, label->lost, label->asker.waiting,
	        (double)label->asker.failing / 1e6);
	if (label->asker.news_at > 0)
		fprintf(out, " success_s=%.1f", seconds(now - label->asker.news_at));
	else
		fputs(" success_s=none", out);
	if (label->rules.told.generation > 0)
		fprintf(out, " bound=%.3f", tokens(fleet_bound(&label->rules.told, 1000)));
	if (*label->differs)
		fprintf(out, " differs=%s", label->differs);
	if (rules_lost(&label->rules) > 0)
		fprintf(out, " newer=%" PRId64, rules_lost(&label->rules));
	putc('\n', out);
}

void fleet_print(const struct fleet *fleet, FILE *out)
{
	fprintf(out, "host=%s rounds=%" PRId64 " unreadable=%zu\n", fleet->host, fleet->rounds,
	        fleet->demand.unreadable);
	for (size_t i = 0; i < fleet->link_count; i++)
		print_link(&fleet->links[i], out);
	for (size_t i = 0; i < fleet->label_count; i++)
		print_label(&fleet->labels[i], out);
}

static void head(const char *name, const char *type, const char *help, FILE *out)
{
	fprintf(out, "# HELP retrybudget_fleet_%s %s\n# TYPE retrybudget_fleet_%s %s\n", name, help,
	        name, type);
}

/* Servers and labels have names from a file of the administrator's, in which no quote can be. */
static void put_links(const struct fleet *fleet, FILE *out)
{
	char name[160];

	head("server_state", "gauge", "1 for the state that each server is in.", out);
	for (size_t i = 0; i < fleet->link_count; i++) {
		link_name(&fleet->links[i], name, sizeof(name));
		for (int state = 0; state < LINK_STATES; state++)
			fprintf(out,
			        "retrybudget_fleet_server_state{server=\"%s\",state=\"%s\"} %d\n",
			        name, link_word((enum link_state)state),
			        fleet->links[i].state == (enum link_state)state);
	}
	head("server_failures_total", "counter", "Connections that failed or were given up.", out);
	for (size_t i = 0; i < fleet->link_count; i++) {
		link_name(&fleet->links[i], name, sizeof(name));
		fprintf(out, "retrybudget_fleet_server_failures_total{server=\"%s\"} %" PRId64 "\n",
		        name, fleet->links[i].failures);
	}
}

static void put_states(const struct fleet *fleet, FILE *out)
{
	head("label_state", "gauge", "1 for the state that each label is in.", out);
	for (size_t i = 0; i < fleet->label_count; i++)
		for (int word = 0; word < FLEET_WORDS; word++)
			fprintf(out,
			        "retrybudget_fleet_label_state{policy=\"%s\",state=\"%s\"} %d\n",
			        fleet->labels[i].label, fleet_word((enum fleet_word)word),
			        fleet->labels[i].word == (enum fleet_word)word);
}

static double held_of(const struct fleet_label *label)
{
	return tokens(label->asker.holder.held[PURSE_TOKENS]);
}

static double waiting_of(const struct fleet_label *label)
{
	return (double)label->asker.waiting;
}

static double failing_of(const struct fleet_label *label)
{
	return (double)label->asker.failing / 1e6;
}

static double bound_of(const struct fleet_label *label)
{
	return label->rules.told.generation > 0 ? tokens(fleet_bound(&label->rules.told, 1000)) : 0;
}

static double differs_of(const struct fleet_label *label)
{
	return *label->differs ? 1 : 0;
}

static double is_lost_of(const struct fleet_label *label)
{
	return rules_lost(&label->rules) > 0 ? 1 : 0;
}

static double granted_of(const struct fleet_label *label)
{
	return tokens(label->granted);
}

static double spent_of(const struct fleet_label *label)
{
	return tokens(label->spent);
}

static double probed_of(const struct fleet_label *label)
{
	return (double)label->probed;
}

static double requests_of(const struct fleet_label *label)
{
	return (double)label->requests;
}

static double lost_of(const struct fleet_label *label)
{
	return (double)label->lost;
}

static const struct {
	const char *name, *type, *help;
	double (*value)(const struct fleet_label *);
} rows[] = {
	{ "held_tokens", "gauge", "Tokens that this host holds.", held_of },
	{ "waiting_hosts", "gauge", "Hosts of the fleet that want to retry.", waiting_of },
	{ "failing_ratio", "gauge", "Share of failures in the fleet lately.", failing_of },
	{ "bound_attempts", "gauge", "Retries of all hosts in a second, at most.", bound_of },
	{ "rule_differs", "gauge", "1 where this host's file is not as the rule.", differs_of },
	{ "rule_lost", "gauge", "1 where the server has lost a newer rule.", is_lost_of },
	{ "granted_tokens_total", "counter", "Tokens that were lent to this host.", granted_of },
	{ "spent_tokens_total", "counter", "Of them, spent.", spent_of },
	{ "probes_total", "counter", "Probes of leases that went.", probed_of },
	{ "requests_total", "counter", "Requests to the ledger.", requests_of },
	{ "lost_total", "counter", "Of them, without an answer.", lost_of },
};

void fleet_metrics(const struct fleet *fleet, FILE *out)
{
	if (fleet->label_count == 0)
		return;
	put_links(fleet, out);
	put_states(fleet, out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		head(rows[i].name, rows[i].type, rows[i].help, out);
		for (size_t j = 0; j < fleet->label_count; j++)
			fprintf(out, "retrybudget_fleet_%s{policy=\"%s\"} %.3f\n", rows[i].name,
			        fleet->labels[j].label, rows[i].value(&fleet->labels[j]));
	}
}
