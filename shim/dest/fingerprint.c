/* SPDX-License-Identifier: MIT */
/* Fingerprints of requests. */
#include "dest/fingerprint.h"

#include "dest/address.h"
#include "sys/hash.h"
#include "sys/text.h"

#include <string.h>

enum fingerprint_place {
	PLACE_BEGIN,
	PLACE_LINE,    /* in the first line */
	PLACE_RAW,     /* no head: every byte counts, and each write may be the last */
	PLACE_FIELD,   /* in another line of the head */
	PLACE_BODY,    /* in a body of known length, or in a chunk of one that is not */
	PLACE_SIZE,    /* in the line before a chunk */
	PLACE_TRAILER, /* in a line behind the last chunk */
	PLACE_END,     /* it is whole; what follows in the same write is another one */
	PLACE_NOTHING, /* it tells nothing */
};

/* What a connection begins with whatever is then asked on it: taken for a request, all that is
 * asked there would be the same. */
static const struct preamble {
	uint8_t at, len;
	const char *bytes;
} preambles[] = {
	{ 4, 4, "\x00\x03\x00\x00" }, /* PostgreSQL: start-up */
	{ 4, 4, "\x04\xd2\x16\x2f" }, /* and what asks for TLS */
	{ 4, 4, "\x04\xd2\x16\x30" }, /* or GSSAPI before it */
	{ 0, 14, "PRI * HTTP/2.0" },
	{ 0, 4, "AMQP" },
	{ 0, 4, "SSH-" },
	{ 8, 5, "HELLO" }, /* Redis */
	{ 8, 4, "AUTH" },
	{ 8, 6, "CLIENT" },
};

/* A TLS record: what follows is a handshake with random bytes in it, or encrypted. */
static bool is_tls(const unsigned char *bytes, size_t n)
{
	return n >= 3 && bytes[0] >= 0x14 && bytes[0] <= 0x17 && bytes[1] == 0x03 &&
	       bytes[2] <= 0x04;
}

/* Version 1, a name and a password, each behind its length (RFC 1929). */
static bool is_password(const unsigned char *bytes, size_t n)
{
	size_t name = n >= 5 && bytes[0] == 1 ? bytes[1] : 0;

	return name > 0 && n >= name + 4 && n == 3 + name + bytes[2 + name];
}

static bool is_preamble(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < sizeof(preambles) / sizeof(*preambles); i++) {
		const struct preamble *one = &preambles[i];

		if (n >= (size_t)one->at + one->len &&
		    memcmp(bytes + one->at, one->bytes, one->len) == 0)
			return one->at != 8 || bytes[0] == '*';
	}
	return is_tls(bytes, n) || is_password(bytes, n);
}

/* "GET /": of a first line with a head behind it, perhaps. */
static bool is_method(const unsigned char *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && is_upper(bytes[i]))
		i++;
	return i > 2 && i < n && bytes[i] == ' ';
}

/* The length of a message that is written by itself says nothing of the message. */
static bool is_length(const unsigned char *bytes, size_t n)
{
	return n <= sizeof(uint64_t) && memchr(bytes, 0, n);
}

/* One more character of the line, whose end is cut off where it is too long. */
static void keep(struct fingerprint_reader *reader, unsigned char c)
{
	if (reader->place == PLACE_FIELD)
		c = (unsigned char)lower(c);
	if (reader->len < FINGERPRINT_FIELD - 1)
		reader->line[reader->len++] = (char)c;
}

static void end_line(struct fingerprint_reader *reader)
{
	if (reader->len > 0 && reader->line[reader->len - 1] == '\r')
		reader->len--;
	reader->line[reader->len] = '\0';
	reader->len = 0;
}

/* True if a first line ends like "HTTP/1.1": then a head follows. */
static bool has_head(const char *word)
{
	const char *rest = word;

	while (is_upper(*rest))
		rest++;
	return rest > word && rest[0] == '/' && is_digit(rest[1]) && rest[2] == '.' &&
	       is_digit(rest[3]) && rest[4] == '\0';
}

/* True if the line is this field; *value: what it says. */
static bool is_field(const char *line, const char *name, const char **value)
{
	while (*name && *line == *name) {
		line++;
		name++;
	}
	while (*line == ' ' || *line == '\t')
		line++;
	*value = line;
	return *name == '\0';
}

static int digit(char c)
{
	int low = c | 0x20;

	if (is_digit(c))
		return c - '0';
	return low >= 'a' && low <= 'f' ? low - 'a' + 10 : 16;
}

/* The number that the text begins with. One that no body has comes out as too long a body. */
static uint64_t number(const char *text, int base)
{
	uint64_t value = 0;

	for (; digit(*text) < base && value <= FINGERPRINT_MOST; text++)
		value = value * (uint64_t)base + (uint64_t)digit(*text);
	return value;
}

static void begin_body(struct fingerprint_reader *reader)
{
	if (reader->chunked)
		reader->place = PLACE_SIZE;
	else
		reader->place = reader->left > 0 ? PLACE_BODY : PLACE_END;
}

static void end_field(struct fingerprint_reader *reader)
{
	bool empty = reader->len == 0 || (reader->len == 1 && reader->line[0] == '\r');
	const char *value;

	end_line(reader);
	if (empty)
		begin_body(reader);
	else if (is_field(reader->line, "content-length:", &value))
		reader->left = number(value, 10);
	else if (is_field(reader->line, "transfer-encoding:", &value))
		reader->chunked = true;
}

static void end_size(struct fingerprint_reader *reader)
{
	end_line(reader);
	if (reader->line[0] == '\0') /* behind the chunk before */
		return;
	reader->left = number(reader->line, 16);
	reader->place = reader->left > 0 ? PLACE_BODY : PLACE_TRAILER;
}

static void end_trailer(struct fingerprint_reader *reader)
{
	end_line(reader);
	if (reader->line[0] == '\0')
		reader->place = PLACE_END;
}

/* One character of a line. */
static void take(struct fingerprint_reader *reader, unsigned char c)
{
	if (reader->place == PLACE_LINE)
		reader->hash = hash_bytes(reader->hash, &c, 1);
	if (c != '\n') {
		if (reader->place == PLACE_LINE && c == ' ')
			reader->len = 0; /* only the last word tells */
		else
			keep(reader, c);
		return;
	}
	switch ((enum fingerprint_place)reader->place) {
	case PLACE_LINE:
		end_line(reader);
		reader->place = has_head(reader->line) ? PLACE_FIELD : PLACE_RAW;
		break;
	case PLACE_FIELD:
		end_field(reader);
		break;
	case PLACE_SIZE:
		end_size(reader);
		break;
	case PLACE_TRAILER:
	default:
		end_trailer(reader);
		break;
	}
}

/* Bytes that count, as many of n as belong together. Returns how many. */
static size_t take_bytes(struct fingerprint_reader *reader, const unsigned char *bytes, size_t n)
{
	if (reader->place == PLACE_BODY && n > reader->left)
		n = (size_t)reader->left;
	reader->hash = hash_bytes(reader->hash, bytes, n);
	if (reader->place == PLACE_BODY) {
		reader->left -= n;
		if (reader->left == 0)
			reader->place = reader->chunked ? PLACE_SIZE : PLACE_END;
	}
	return n;
}

static void begin(struct fingerprint_reader *reader, const unsigned char *bytes, size_t n)
{
	reader->hash = HASH_START;
	reader->place = is_preamble(bytes, n) ? PLACE_NOTHING : PLACE_LINE;
	reader->method = is_method(bytes, n);
}

void fingerprint_read(struct fingerprint_reader *reader, const void *data, size_t n)
{
	const unsigned char *bytes = data;
	size_t i = 0;

	if (n == 0)
		return;
	if (reader->place == PLACE_BEGIN)
		begin(reader, bytes, n);
	reader->length = reader->seen == 0 && is_length(bytes, n);
	if (n > FINGERPRINT_MOST - reader->seen)
		reader->place = PLACE_NOTHING;
	else
		reader->seen += (uint32_t)n;
	/* Behind the end comes another one, before this one is answered. */
	while (i < n && reader->place != PLACE_NOTHING && reader->place != PLACE_END) {
		if (reader->place == PLACE_RAW || reader->place == PLACE_BODY)
			i += take_bytes(reader, bytes + i, n - i);
		else
			take(reader, bytes[i++]);
		if (reader->place == PLACE_BODY && reader->left > FINGERPRINT_MOST)
			reader->place = PLACE_NOTHING;
	}
}

enum fingerprint_said fingerprint_said(const struct fingerprint_reader *reader,
                                       uint32_t *fingerprint)
{
	uint64_t hash = reader->hash ^ reader->hash >> 32;
	uint32_t head = 0;

	*fingerprint = 0;
	switch ((enum fingerprint_place)reader->place) {
	case PLACE_BEGIN:
	case PLACE_NOTHING:
		return FINGERPRINT_NONE;
	case PLACE_LINE: /* a method and the beginning of a target, or all there is */
		if (reader->method)
			return FINGERPRINT_PARTIAL;
		break;
	case PLACE_RAW:
		break;
	case PLACE_END:
		head = FINGERPRINT_HEAD;
		break;
	default:
		return FINGERPRINT_PARTIAL;
	}
	if (reader->length)
		return FINGERPRINT_NONE;
	/* Neither 0, which stands for none, nor TRAFFIC_BEGUN. */
	*fingerprint = (uint32_t)hash & ~FINGERPRINT_HEAD;
	if (*fingerprint == 0 || *fingerprint == (UINT32_MAX & ~FINGERPRINT_HEAD))
		*fingerprint = 1;
	*fingerprint |= head;
	return FINGERPRINT_WHOLE;
}

uint32_t fingerprint_of(const void *data, size_t n)
{
	struct fingerprint_reader reader = { 0 };
	uint32_t fingerprint;

	fingerprint_read(&reader, data, n);
	fingerprint_said(&reader, &fingerprint);
	return fingerprint;
}
