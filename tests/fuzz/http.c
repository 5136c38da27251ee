// SPDX-License-Identifier: MIT
/* Heads of HTTP/1 replies: cut into pieces of any size they say the same, and what they name as
 * Retry-After is a time. The first byte is the size of the pieces. */
#include "conn/http.h"
#include "conn/http_date.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct told {
	enum http_said last;
	uint16_t status;
	size_t end;
	char value[HTTP_VALUE];
};

static void demand(bool good)
{
	if (!good)
		abort();
}

/* Each piece is a copy of its own, so that a byte read beyond it is seen. */
static struct told read_in_pieces(const uint8_t *data, size_t size, size_t piece)
{
	struct http_reader reader = { 0 };
	struct told told = { 0 };

	while (told.end < size) {
		size_t n = size - told.end < piece ? size - told.end : piece, taken = 0;
		uint8_t *copy = malloc(n);

		demand(copy != NULL);
		memcpy(copy, data + told.end, n);
		told.last = http_read(&reader, copy, n, &taken);
		free(copy);
		demand(taken <= n);
		told.end += taken;
		if (told.last == HTTP_MORE)
			demand(taken == n);
		else if (told.last == HTTP_STATUS)
			told.status = reader.status;
		else
			break;
	}
	if (told.last == HTTP_LATER)
		memcpy(told.value, reader.value, sizeof(told.value));
	return told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct told whole, pieces;

	if (size < 2)
		return 0;
	whole = read_in_pieces(data + 1, size - 1, size);
	pieces = read_in_pieces(data + 1, size - 1, (size_t)data[0] % 16 + 1);
	demand(whole.last == pieces.last || (whole.last != HTTP_LATER && whole.last != HTTP_END));
	demand(whole.status == pieces.status);
	if (whole.last == HTTP_LATER) {
		demand(memchr(whole.value, '\0', sizeof(whole.value)) != NULL);
		demand(strcmp(whole.value, pieces.value) == 0);
		demand(http_retry_after(whole.value, 1700000000) >= -1);
	}
	/* What it passes over is no failure; that it is HTTP it need not know. */
	if (http_is_fine(data + 1, size - 1))
		demand(whole.status == 0 || (whole.status >= 200 && whole.status < 400));
	return 0;
}
