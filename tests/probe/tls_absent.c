/* SPDX-License-Identifier: MIT */
/*
 * A program without TLS that asks whether there is any, as many do that take what they find: by
 * dlsym and by weak references. An exported SSL_read of ours would make it believe in an OpenSSL
 * that is not there.
 */
#include "probe.h"

#include <dlfcn.h>

/* clang-format off */
#define CALLS(X) \
	X(SSL_read) X(SSL_read_ex) X(SSL_write) X(SSL_write_ex) X(SSL_connect) X(SSL_do_handshake) \
	X(SSL_get_fd) X(SSL_get_rfd) \
	X(gnutls_record_recv) X(gnutls_record_send) X(gnutls_handshake) X(gnutls_transport_get_int)
/* clang-format on */

#define DECLARE(name) extern int name(void) __attribute__((weak));
#define SAY(name)                                                                                  \
	printf(#name ": %s, %s\n", dlsym(RTLD_DEFAULT, #name) ? "found" : "not found",             \
	       name ? "linked" : "not linked");

CALLS(DECLARE)

int main(void)
{
	int held;

	attempt(refusing_port(&held), NULL);
	CALLS(SAY)
	return 0;
}
