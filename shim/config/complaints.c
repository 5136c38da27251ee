/* SPDX-License-Identifier: MIT */
/* The messages of the last load, as records once the reporter is ready. */
#include "config/complaints.h"

#include "config/config.h"
#include "sys/text.h"

#include <stdatomic.h>
#include <string.h>

#define KEPT    8
#define MESSAGE 256

static struct {
	const char *file;
	int line;
	char text[MESSAGE];
} kept[KEPT];

static atomic_int told; /* of all, kept or not */

int complaints_count(void)
{
	return atomic_load(&told);
}

void complaints_forget(int count)
{
	atomic_store(&told, count);
}

void complaint_add(const char *file, int line, const char *message)
{
	int at = atomic_load(&told);
	size_t n = strnlen(message, MESSAGE - 1);

	if (at < KEPT) {
		kept[at].file = file;
		kept[at].line = line;
		memcpy(kept[at].text, message, n);
		kept[at].text[n] = '\0';
	}
	atomic_store(&told, at + 1);
}

static void report_rest(const char *file, int rest, int64_t now)
{
	char message[MESSAGE];
	struct record record = { .event = EVENT_CONFIG_ERROR, .file = file, .text = message };
	struct text text;

	text_start(&text, message, sizeof(message));
	text_decimal(&text, rest);
	text_string(&text, " more; 'retrybudget check' shows them all");
	report(&record, now);
}

void config_report_complaints(int64_t now)
{
	int n = atomic_exchange(&told, 0);

	for (int i = 0; i < n && i < KEPT; i++) {
		struct record record = {
			.event = EVENT_CONFIG_ERROR,
			.file = kept[i].file,
			.line = kept[i].line,
			.text = kept[i].text,
		};

		report(&record, now);
	}
	if (n > KEPT)
		report_rest(kept[KEPT - 1].file, n - KEPT, now);
}
