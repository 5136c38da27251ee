/* SPDX-License-Identifier: MIT */
/* What of text is inline: IPv4 addresses inside IPv6 ones, letters and digits. */
#include "sys/text.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>

Test(text, ipv4_in_its_mapped_form)
{
	static const char *const not_mapped[] = { "::",           "::1",
		                                  "::192.0.2.7",  "::fffe:192.0.2.7",
		                                  "::1:ffff:0:1", "100::ffff:192.0.2.7" };
	uint8_t address[16], expected[16], v4[4];
	char said[64];
	struct text text;

	memset(address, 0xaa, sizeof(address));
	cr_assert_eq(inet_pton(AF_INET, "192.0.2.7", v4), 1);
	cr_assert_eq(inet_pton(AF_INET6, "::ffff:192.0.2.7", expected), 1);
	ip_map_v4(address, v4);
	cr_assert_eq(memcmp(address, expected, sizeof(address)), 0);
	cr_assert(ip_is_v4(address));
	text_start(&text, said, sizeof(said));
	cr_assert(text_ip(&text, address, 0, 80));
	cr_assert_str_eq(said, "192.0.2.7:80");
	for (size_t i = 0; i < sizeof(not_mapped) / sizeof(*not_mapped); i++) {
		cr_assert_eq(inet_pton(AF_INET6, not_mapped[i], address), 1);
		cr_assert_not(ip_is_v4(address), "%s", not_mapped[i]);
	}
}

/* Whatever the locale says of bytes beyond. */
Test(text, letters_and_digits_are_those_of_ascii)
{
	int changed = 0, digits = 0;

	for (int c = -128; c < 256; c++) {
		changed += lower(c) != (char)c;
		digits += is_digit(c);
	}
	cr_expect_eq(changed, 26);
	cr_expect_eq(digits, 10);
	cr_expect_eq(lower('A'), 'a');
	cr_expect_eq(lower('Z'), 'z');
	cr_expect(is_digit('0') && is_digit('9') && is_upper('A') && is_upper('Z'));
	cr_expect(begins("unix:/run", "unix:"));
	cr_expect_not(begins("uni", "unix:"));
}
