/* SPDX-License-Identifier: MIT */
/* Text of fixed size. snprintf would take the locale's lock, and malloc on some libcs (HAZARDS 36).
 */
#include "sys/text.h"

#include <netinet/in.h>
#include <sys/un.h>

static const char hex_digits[] = "0123456789abcdef";

#define CUT "..."

void text_start(struct text *text, char *out, size_t size)
{
	*text = (struct text) { .out = out, .size = size };
	if (size)
		*out = '\0';
}

void text_rewind(struct text *text, size_t used)
{
	if (used < text->used) {
		text->used = used;
		text->out[used] = '\0';
	}
}

static size_t room(const struct text *text)
{
	return text->size ? text->size - 1 - text->used : 0;
}

bool text_bytes(struct text *text, const char *bytes, size_t n)
{
	if (n > room(text))
		return false;
	if (n == 0)
		return true;
	memcpy(text->out + text->used, bytes, n);
	text->used += n;
	text->out[text->used] = '\0';
	return true;
}

bool text_string(struct text *text, const char *string)
{
	return text_bytes(text, string, strlen(string));
}

static bool number(struct text *text, uint64_t value, unsigned base, int at_least)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = hex_digits[value % base];
		value /= base;
	} while (value || (int)(sizeof(digits) - at) < at_least);
	return text_bytes(text, digits + at, sizeof(digits) - at);
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

bool text_decimal(struct text *text, int64_t value)
{
	size_t mark = text->used;

	if ((value >= 0 || text_string(text, "-")) && number(text, magnitude(value), 10, 1))
		return true;
	text_rewind(text, mark);
	return false;
}

bool text_hex(struct text *text, uint64_t value)
{
	size_t mark = text->used;

	if (text_string(text, "0x") && number(text, value, 16, 1))
		return true;
	text_rewind(text, mark);
	return false;
}

bool text_number(const char **text, char end, int64_t *value)
{
	int digits = 0;

	for (*value = 0; is_digit(**text) && digits < 18; ++*text, digits++)
		*value = *value * 10 + (**text - '0');
	return digits > 0 && *(*text)++ == end;
}

bool text_fixed(struct text *text, int64_t thousandths, int places)
{
	uint64_t whole = magnitude(thousandths);
	size_t mark = text->used;

	for (int i = places; i < 3; i++)
		whole /= 10;

	uint64_t unit = places == 3 ? 1000 : places == 2 ? 100 : places == 1 ? 10 : 1;
	bool fits = (thousandths >= 0 || whole == 0 || text_string(text, "-")) &&
	            number(text, whole / unit, 10, 1);

	if (fits && places > 0)
		fits = text_string(text, ".") && number(text, whole % unit, 10, places);
	if (!fits)
		text_rewind(text, mark);
	return fits;
}

bool text_thousandths(struct text *text, int64_t thousandths)
{
	int places = thousandths % 1000 == 0  ? 0
	             : thousandths % 100 == 0 ? 1
	             : thousandths % 10 == 0  ? 2
	                                      : 3;

	return text_fixed(text, thousandths, places);
}

/* Harmless without quotes in every logfmt reader, and in a shell too. */
static bool is_bare(unsigned char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || is_upper(c) ||
	       (c && strchr("._:/-+@%,[]", c));
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* The form of one byte: itself, or four bytes of escape. */
static size_t spell(char out[4], unsigned char c)
{
	if (is_plain(c)) {
		out[0] = (char)c;
		return 1;
	}
	out[0] = '\\';
	out[1] = 'x';
	out[2] = hex_digits[c >> 4];
	out[3] = hex_digits[c & 15];
	return 4;
}

/* Appends as many whole escapes as fit into max bytes, and the mark if not all did. Each byte is
 * read once. bare: nothing may come out that needs quotes. */
static bool spell_all(struct text *text, const char *bytes, size_t n, size_t max, bool bare)
{
	size_t start = text->used, cut_at = start;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = ((const volatile unsigned char *)bytes)[i];
		char form[4];
		size_t length = spell(form, bare && !is_bare(c) ? '_' : c);

		if (text->used - start + sizeof(CUT) - 1 <= max)
			cut_at = text->used;
		if (text->used - start + length > max || !text_bytes(text, form, length)) {
			text_rewind(text, cut_at);
			/* A mark alone says nothing that a missing value does not. */
			return cut_at > start && text_string(text, CUT);
		}
	}
	return true;
}

bool text_escaped(struct text *text, const char *bytes, size_t n, size_t max)
{
	size_t mark = text->used;

	if (spell_all(text, bytes, n, max < room(text) ? max : room(text), false))
		return true;
	text_rewind(text, mark);
	return false;
}

bool text_value(struct text *text, const char *bytes, size_t n, size_t max)
{
	size_t mark = text->used, limit = max < room(text) ? max : room(text);
	bool bare = n > 0;

	for (size_t i = 0; bare && i < n; i++)
		bare = is_bare((unsigned char)bytes[i]);
	if (bare) {
		if (spell_all(text, bytes, n, limit, true))
			return true;
	} else if (limit >= 2 && text_string(text, "\"") &&
	           spell_all(text, bytes, n, limit - 2, false) && text_string(text, "\"")) {
		return true;
	}
	text_rewind(text, mark);
	return false;
}

/* The longest run of zero groups, of two at least (RFC 5952, section 4.2). */
static void find_gap(const uint16_t groups[8], int *start, int *length)
{
	*start = *length = 0;
	for (int i = 0; i < 8; i++) {
		int n = 0;

		while (i + n < 8 && groups[i + n] == 0)
			n++;
		if (n > *length && n > 1) {
			*start = i;
			*length = n;
		}
	}
}

static bool ip6(struct text *text, const uint8_t address[16])
{
	uint16_t groups[8];
	int gap, length;
	bool fits = true;

	for (size_t i = 0; i < 8; i++)
		groups[i] = (uint16_t)(address[2 * i] << 8 | address[2 * i + 1]);
	find_gap(groups, &gap, &length);
	for (int i = 0; i < 8 && fits; i++) {
		if (length && i == gap) {
			fits = text_string(text, "::");
			i += length - 1;
			continue;
		}
		if (i > 0 && !(length && i == gap + length))
			fits = text_string(text, ":");
		fits = fits && number(text, groups[i], 16, 1);
	}
	return fits;
}

static bool ip4(struct text *text, const uint8_t address[4])
{
	bool fits = true;

	for (int i = 0; i < 4 && fits; i++)
		fits = (i == 0 || text_string(text, ".")) && number(text, address[i], 10, 1);
	return fits;
}

bool text_ip(struct text *text, const uint8_t address[16], uint32_t scope, uint16_t port)
{
	size_t mark = text->used;
	bool fits;

	if (ip_is_v4(address)) {
		fits = ip4(text, address + IP_V4_AT);
	} else {
		fits = text_string(text, "[") && ip6(text, address);
		if (scope)
			fits = fits && text_string(text, "%") && number(text, scope, 10, 1);
		fits = fits && text_string(text, "]");
	}
	if (fits && text_string(text, ":") && number(text, port, 10, 1))
		return true;
	text_rewind(text, mark);
	return false;
}

static bool unix_address(struct text *text, const struct sockaddr *address, socklen_t len,
                         size_t max)
{
	static const char kind[] = "unix:";
	struct sockaddr_un un;
	char name[sizeof(kind) + sizeof(un.sun_path)];
	size_t n = 0;

	memset(&un, 0, sizeof(un));
	memcpy(&un, address, len < sizeof(un) ? len : sizeof(un));
	if (len > offsetof(struct sockaddr_un, sun_path))
		n = (len < sizeof(un) ? len : sizeof(un)) - offsetof(struct sockaddr_un, sun_path);
	/* An abstract name is all of its bytes, whatever they are (unix(7)); a path ends at a NUL.
	 */
	if (n && un.sun_path[0] == '\0')
		un.sun_path[0] = '@';
	else
		n = strnlen(un.sun_path, n);
	memcpy(name, kind, sizeof(kind) - 1);
	memcpy(name + sizeof(kind) - 1, un.sun_path, n);
	return text_value(text, name, sizeof(kind) - 1 + n, max);
}

bool text_address(struct text *text, const struct sockaddr *address, socklen_t len, size_t max)
{
	sa_family_t family;

	if (len < sizeof(family))
		return false;
	memcpy(&family, address, sizeof(family));
	if (family == AF_INET && len >= sizeof(struct sockaddr_in)) {
		struct sockaddr_in in;
		uint8_t mapped[16];

		memcpy(&in, address, sizeof(in));
		ip_map_v4(mapped, &in.sin_addr);
		return text_ip(text, mapped, 0, ntohs(in.sin_port));
	}
	/* The kernel also takes the form of RFC 2133, without a scope. */
	if (family == AF_INET6 && len >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
		struct sockaddr_in6 in6 = { 0 };

		memcpy(&in6, address, len < sizeof(in6) ? len : sizeof(in6));
		return text_ip(text, in6.sin6_addr.s6_addr, in6.sin6_scope_id,
		               ntohs(in6.sin6_port));
	}
	return family == AF_UNIX && unix_address(text, address, len, max);
}
