/* SPDX-License-Identifier: MIT */
/* The messages of the last load. */
#include "config/complaints.h"

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

int complaints_take(complaint_writer *write, void *arg)
{
	int n = atomic_exchange(&told, 0);

	for (int i = 0; i < n && i < KEPT; i++)
		write(arg, kept[i].file, kept[i].line, kept[i].text);
	if (n > KEPT) {
		char message[MESSAGE];
		struct text text;

		text_start(&text, message, sizeof(message));
		text_decimal(&text, n - KEPT);
		text_string(&text, " more; 'retrybudget check' shows them all");
		write(arg, kept[KEPT - 1].file, 0, message);
	}
	return n;
}
