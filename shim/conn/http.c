/* SPDX-License-Identifier: MIT */
/* The reader of replies. Lines end in LF, with or without CR, as servers of every age send them; a
 * field is looked for without regard to case, and a line that continues the one before it (RFC 9112
 * 5.2) never matches its name. */
#include "conn/http.h"

#include "sys/text.h"

enum http_place {
	PLACE_STATUS, /* in the status line, up to the end of the code */
	PLACE_REASON, /* in the rest of it */
	PLACE_NAME,   /* at the beginning of a field: as far as its name matched */
	PLACE_OTHER,  /* in a line of no interest */
	PLACE_VALUE,  /* in that of Retry-After */
};

static const char status_line[] = "HTTP/1.d ddd ";
static const char name[] = "retry-after:";

#define STATUS_LEN ((int)sizeof(status_line) - 1)
#define NAME_LEN   ((int)sizeof(name) - 1)

/* True if the character may stand at this place of a status line. */
static bool fits(int place, unsigned char c)
{
	switch (status_line[place]) {
	case 'd':
		return is_digit(c);
	case ' ': /* after the code the line may end */
		return c == ' ' || (place == STATUS_LEN - 1 && (c == '\r' || c == '\n'));
	default:
		return c == (unsigned char)status_line[place];
	}
}

/* One character of the status line. */
static enum http_said take_status(struct http_reader *reader, unsigned char c)
{
	/* An empty line or two before a reply: old servers end a body so. */
	if (reader->matched == 0 && (c == '\r' || c == '\n'))
		return HTTP_MORE;
	if (reader->matched >= STATUS_LEN || !fits(reader->matched, c))
		return HTTP_NOT;
	if (++reader->matched == 10) /* the code begins */
		reader->status = 0;
	if (reader->matched >= 10 && is_digit(c))
		reader->status = (uint16_t)(reader->status * 10 + (c - '0'));
	if (reader->matched < STATUS_LEN)
		return HTTP_MORE;
	reader->matched = 0;
	reader->place = c == '\n' ? PLACE_NAME : PLACE_REASON;
	if (reader->status < 100)
		return HTTP_NOT;
	return reader->status < 200 && reader->status != 101 ? HTTP_MORE : HTTP_STATUS;
}

/* The head is over: of an interim reply, then the real one follows. */
static enum http_said end_head(struct http_reader *reader)
{
	if (reader->status >= 200)
		return HTTP_END;
	*reader = (struct http_reader) { .passed = reader->passed };
	return HTTP_MORE;
}

/* One character of a line that may begin with the name. */
static enum http_said take_name(struct http_reader *reader, unsigned char c)
{
	if (c == '\n') {
		if (reader->matched == 0)
			return end_head(reader);
		reader->matched = 0;
		return HTTP_MORE;
	}
	if (c == '\r' && reader->matched == 0)
		return HTTP_MORE;
	c = (unsigned char)lower(c);
	if (reader->matched >= NAME_LEN || c != (unsigned char)name[reader->matched]) {
		reader->place = PLACE_OTHER;
		return HTTP_MORE;
	}
	if (++reader->matched == NAME_LEN) {
		reader->matched = 0;
		reader->place = reader->status >= 200 ? PLACE_VALUE : PLACE_OTHER;
		memset(reader->value, 0, sizeof(reader->value));
	}
	return HTTP_MORE;
}

static enum http_said take_value(struct http_reader *reader, unsigned char c)
{
	if (c == '\n')
		return HTTP_LATER;
	if (c == '\r' || (reader->matched == 0 && (c == ' ' || c == '\t')))
		return HTTP_MORE;
	/* Too long for what it should be: cut, and then it is understood as nothing. */
	if (reader->matched < HTTP_VALUE - 1)
		reader->value[reader->matched++] = (char)c;
	return HTTP_MORE;
}

static enum http_said take(struct http_reader *reader, unsigned char c)
{
	switch ((enum http_place)reader->place) {
	case PLACE_STATUS:
		return take_status(reader, c);
	case PLACE_NAME:
		return take_name(reader, c);
	case PLACE_VALUE:
		return take_value(reader, c);
	case PLACE_REASON:
	case PLACE_OTHER:
	default:
		if (c == '\n') {
			reader->place = PLACE_NAME;
			reader->matched = 0;
		}
		return HTTP_MORE;
	}
}

enum http_said http_read(struct http_reader *reader, const void *data, size_t n, size_t *taken)
{
	const unsigned char *bytes = data;
	enum http_said said = HTTP_MORE;
	size_t i = 0;

	while (i < n && said == HTTP_MORE) {
		if (++reader->passed > HTTP_HEAD_MAX)
			said = HTTP_END;
		else
			said = take(reader, bytes[i++]);
	}
	*taken = i;
	return said;
}
