/* SPDX-License-Identifier: MIT */
/* Metrics, each in one row of a table. */
#include "agent/exposition.h"

#include "sys/arithmetic.h"

#include <inttypes.h>

#define LABELS_MAX 48

struct sample {
	size_t place;            /* in series->values */
	const char *more_labels; /* ,name="value" */
};

struct family_of_samples {
	const char *name, *help;
	const struct sample *samples;
	size_t count;
};

#define P(field) TALLY_PLACE(field)
#define AT(place, labels)                                                                          \
	{                                                                                          \
		place, labels                                                                      \
	}
#define FAILED(of, w)                                                                              \
	{                                                                                          \
		P(failures) + (of), ",class=\"" w "\""                                             \
	}
#define ROW(name, help, samples)                                                                   \
	{                                                                                          \
		name, help, samples, sizeof(samples) / sizeof(*(samples))                          \
	}

static const struct sample attempts[] = {
	AT(P(answered), ",kind=\"first\",result=\"success\""),
	AT(P(answered) + 1, ",kind=\"retry\",result=\"success\""),
	AT(P(failed), ",kind=\"first\",result=\"failure\""),
	AT(P(failed) + 1, ",kind=\"retry\",result=\"failure\""),
};
static const struct sample begun[] = { AT(P(attempts), "") };
static const struct sample retries[] = { AT(P(retries), "") };
static const struct sample failures[] = {
	FAILED(FAILURE_REFUSED, "refused"), FAILED(FAILURE_UNREACHABLE, "unreachable"),
	FAILED(FAILURE_TIMEOUT, "timeout"), FAILED(FAILURE_RESET, "reset"),
	FAILED(FAILURE_DROPPED, "dropped"), FAILED(FAILURE_LOCAL, "local"),
	FAILED(FAILURE_LOOKUP, "lookup"),   FAILED(FAILURE_STATUS, "status"),
};
_Static_assert(sizeof(failures) / sizeof(*failures) == FAILURE_COUNT - 1, "each class is a series");
static const struct sample statuses[] = {
	AT(P(statuses) + STATUS_429, ",code=\"429\""),
	AT(P(statuses) + STATUS_500, ",code=\"500\""),
	AT(P(statuses) + STATUS_502, ",code=\"502\""),
	AT(P(statuses) + STATUS_503, ",code=\"503\""),
	AT(P(statuses) + STATUS_504, ",code=\"504\""),
	AT(P(statuses) + STATUS_OTHER, ",code=\"other\""),
};
static const struct sample throttled[] = {
	AT(TOTALS_REFUSED, ",how=\"refused\""),
	AT(P(held), ",how=\"held\""),
	AT(P(parked), ",how=\"parked\""),
};
static const struct sample would[] = { AT(TOTALS_WOULD, "") };
static const struct sample avoided[] = { AT(P(avoided), "") };
static const struct sample exhausted[] = { AT(P(exhausted), "") };
static const struct sample evicted[] = { AT(P(evicted), "") };
static const struct sample probes[] = { AT(P(probes), "") };
static const struct sample refunded[] = { AT(P(mistaken), "") };
static const struct sample breaker[] = {
	AT(P(breaker), ",to=\"open\""),
	AT(P(breaker) + 1, ",to=\"half-open\""),
	AT(P(breaker) + 2, ",to=\"closed\""),
};

static const struct family_of_samples counters[] = {
	ROW("attempts_total", "Attempts whose outcome is known, by kind and result.", attempts),
	ROW("attempts_begun_total", "Attempts judged, whatever became of them.", begun),
	ROW("retries_total", "Attempts judged to be retries, let through or not.", retries),
	ROW("failures_total", "Failures, by class.", failures),
	ROW("status_total", "Replies that failed by their HTTP status.", statuses),
	ROW("throttled_total", "Retries that did not go at once, by how they were throttled.",
	    throttled),
	ROW("would_refuse_total", "Retries that went and would have been refused (observe).",
	    would),
	ROW("retries_avoided_total", "Refused retries that never came to the network.", avoided),
	ROW("exhausted_total", "Refusals for want of tokens.", exhausted),
	ROW("evicted_total", "Destinations in use that lost their place, and their budget, to it.",
	    evicted),
	ROW("probes_total", "Retries let through without tokens.", probes),
	ROW("refunded_total", "Retries that proved to be new work, paid back.", refunded),
	ROW("breaker_changes_total", "Changes of the circuit breaker.", breaker),
};

static const struct {
	const char *name, *help;
	size_t place; /* of a struct times */
} times[] = {
	{ "wait_seconds", "How long throttled calls were held.", P(waits) },
	{ "delay_seconds", "Backoff delays that were drawn.", P(delays) },
	{ "recovery_seconds", "From a first failure to the success that ended the streak.",
	  P(recoveries) },
};

/* A label value: what is not printable ASCII is written as \xHH, for names are bytes that a
 * stranger chose, and so is the backslash, for no two names may be written alike. The backslash
 * that stands there then, and a quote, are escaped (exposition format). */
static void put_value(const char *text, FILE *out)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at == '"')
			fputs("\\\"", out);
		else if (*at < ' ' || *at > '~' || *at == '\\')
			fprintf(out, "\\\\x%02x", *at);
		else
			putc(*at, out);
	}
}

static void put_labels(const struct series *series, const char *more, FILE *out)
{
	fputs("{program=\"", out);
	put_value(series->program, out);
	fputs("\",dest=\"", out);
	put_value(series->destination, out);
	fputs("\",policy=\"", out);
	put_value(series->policy, out);
	fprintf(out, "\"%s}", more);
}

static void head(const char *name, const char *type, const char *help, FILE *out)
{
	fprintf(out, "# HELP retrybudget_%s %s\n# TYPE retrybudget_%s %s\n", name, help, name,
	        type);
}

static bool is_used(const struct totals *totals, size_t i)
{
	return i > 0 || totals->series[0].values[P(attempts)] > 0;
}

static void put_counters(const struct totals *totals, const struct family_of_samples *row,
                         FILE *out)
{
	head(row->name, "counter", row->help, out);
	for (size_t i = 0; i < totals->count; i++) {
		for (size_t j = 0; j < row->count && is_used(totals, i); j++) {
			fprintf(out, "retrybudget_%s", row->name);
			put_labels(&totals->series[i], row->samples[j].more_labels, out);
			fprintf(out, " %" PRId64 "\n",
			        totals->series[i].values[row->samples[j].place]);
		}
	}
}

/* The last place of struct times has no upper end. */
static void put_times(const struct series *series, const char *name, size_t place, FILE *out)
{
	const int64_t *counts = &series->values[place + 1];
	char label[LABELS_MAX];
	int64_t sum = 0;

	for (int i = 0; i < REGION_TIMES; i++) {
		sum += counts[i];
		if (i + 1 == REGION_TIMES)
			snprintf(label, sizeof(label), ",le=\"+Inf\"");
		else
			snprintf(label, sizeof(label), ",le=\"%.3f\"",
			         (double)(INT64_C(1) << i) / 1000);
		fprintf(out, "retrybudget_%s_bucket", name);
		put_labels(series, label, out);
		fprintf(out, " %" PRId64 "\n", sum);
	}
	fprintf(out, "retrybudget_%s_sum", name);
	put_labels(series, "", out);
	fprintf(out, " %.6f\nretrybudget_%s_count", (double)series->values[place] / 1e9, name);
	put_labels(series, "", out);
	fprintf(out, " %" PRId64 "\n", sum);
}

static void put_gauge(const struct totals *totals, const char *name, const char *help,
                      double (*value)(const struct series *), FILE *out)
{
	head(name, "gauge", help, out);
	for (size_t i = 1; i < totals->count; i++) {
		if (totals->series[i].processes == 0)
			continue;
		fprintf(out, "retrybudget_%s", name);
		put_labels(&totals->series[i], "", out);
		fprintf(out, " %.3f\n", value(&totals->series[i]));
	}
}

static void put_seconds(const struct totals *totals, const char *name, const char *help,
                        double (*value)(const struct series *), FILE *out)
{
	head(name, "counter", help, out);
	for (size_t i = 1; i < totals->count; i++)
		if (is_used(totals, i)) {
			fprintf(out, "retrybudget_%s", name);
			put_labels(&totals->series[i], "", out);
			fprintf(out, " %.3f\n", value(&totals->series[i]));
		}
}

static double token_seconds_of(const struct series *series)
{
	return series->token_seconds;
}

static double capacity_seconds_of(const struct series *series)
{
	return series->capacity_seconds;
}

static double tokens_of(const struct series *series)
{
	return (double)series->tokens / 1000;
}

static double capacity_of(const struct series *series)
{
	return (double)series->capacity / 1000;
}

static double processes_of(const struct series *series)
{
	return (double)series->processes;
}

void exposition_write(const struct totals *totals, const struct round *round, FILE *out)
{
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		put_counters(totals, &counters[i], out);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		head(times[i].name, "histogram", times[i].help, out);
		for (size_t j = 0; j < totals->count; j++)
			if (is_used(totals, j))
				put_times(&totals->series[j], times[i].name, times[i].place, out);
	}
	put_seconds(totals, "token_seconds_total", "Tokens left, over time.", token_seconds_of,
	            out);
	put_seconds(totals, "capacity_seconds_total", "Tokens when full, over time.",
	            capacity_seconds_of, out);
	put_gauge(totals, "tokens", "Tokens left, summed over the processes.", tokens_of, out);
	put_gauge(totals, "capacity", "Tokens when full, summed over the processes.", capacity_of,
	          out);
	put_gauge(totals, "regions", "Regions that have this destination now.", processes_of, out);
	head("info", "gauge", "The version of the daemon.", out);
	fprintf(out, "retrybudget_info{version=\"%s\",layout=\"%c\"} 1\n", VERSION, REGION_LAYOUT);
	head("daemon_regions", "gauge", "Regions of the last round, by whether they were read.",
	     out);
	fprintf(out,
	        "retrybudget_daemon_regions{state=\"read\"} %zu\n"
	        "retrybudget_daemon_regions{state=\"unreadable\"} %zu\n"
	        "retrybudget_daemon_regions{state=\"strange\"} %zu\n",
	        round->processes, round->unreadable, round->strange);
	head("daemon_round_seconds", "gauge", "How long the last round took.", out);
	fprintf(out, "retrybudget_daemon_round_seconds %.6f\n", round->seconds);
	head("daemon_round_timestamp_seconds", "gauge", "When the last round ended.", out);
	fprintf(out, "retrybudget_daemon_round_timestamp_seconds %.3f\n", round->at);
}
