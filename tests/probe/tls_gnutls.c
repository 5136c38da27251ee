/* SPDX-License-Identifier: MIT */
/*
 * The same as tls_kept with GnuTLS, by a key that both sides know.
 *
 * Usage: tls_gnutls int|ptr|functions: how GnuTLS learns of the socket (functions: it never does,
 * as in libcurl)
 */
#include "tls.h"

#include <gnutls/gnutls.h>

static const gnutls_datum_t key = { (unsigned char *)"0123456789abcdef", 16 };
static gnutls_psk_server_credentials_t serving;
static gnutls_psk_client_credentials_t asking;

static int know(gnutls_session_t session, const char *user, gnutls_datum_t *copy)
{
	(void)session, (void)user;
	copy->data = gnutls_malloc(key.size);
	copy->size = key.size;
	memcpy(copy->data, key.data, key.size);
	return 0;
}

static gnutls_session_t session_for(unsigned int side, void *credentials)
{
	gnutls_session_t session;

	gnutls_init(&session, side);
	gnutls_priority_set_direct(session, "NORMAL:+ECDHE-PSK:+PSK", NULL);
	gnutls_credentials_set(session, GNUTLS_CRD_PSK, credentials);
	return session;
}

static void *welcome(int peer)
{
	gnutls_session_t session = session_for(GNUTLS_SERVER, serving);

	gnutls_transport_set_int(session, peer);
	return gnutls_handshake(session) == 0 ? session : NULL;
}

static int receive(void *session, void *data, int n)
{
	return (int)gnutls_record_recv(session, data, (size_t)n);
}

static int reply(void *session, const void *data, int n)
{
	return (int)gnutls_record_send(session, data, (size_t)n);
}

/* --- the program --- */

static ssize_t pull(gnutls_transport_ptr_t at, void *data, size_t n)
{
	return recv(*(int *)at, data, n, 0);
}

static ssize_t push(gnutls_transport_ptr_t at, const void *data, size_t n)
{
	return send(*(int *)at, data, n, MSG_NOSIGNAL);
}

static const char *answer_to(gnutls_session_t session)
{
	static char data[512];
	ssize_t have = 0, done = gnutls_record_send(session, ASK, strlen(ASK));

	if (done != (ssize_t)strlen(ASK))
		return gnutls_strerror((int)done);
	data[0] = '\0';
	while (!tls_complete(data)) {
		done = gnutls_record_recv(session, data + have, sizeof(data) - 1 - have);
		if (done <= 0)
			return done == 0 ? "end of session" : gnutls_strerror((int)done);
		have += done;
		data[have] = '\0';
	}
	return tls_seen(data);
}

int main(int argc, char **argv)
{
	static const struct tls_server server = { welcome, receive, reply };
	const char *how = argc > 1 ? argv[1] : "int";
	gnutls_session_t session;
	int fd;

	gnutls_psk_allocate_server_credentials(&serving);
	gnutls_psk_set_server_credentials_function(serving, know);
	gnutls_psk_allocate_client_credentials(&asking);
	gnutls_psk_set_client_credentials(asking, "me", &key, GNUTLS_PSK_KEY_RAW);
	fd = connected(start_tls_server(&server));
	session = session_for(GNUTLS_CLIENT, asking);
	if (strcmp(how, "functions") == 0) {
		gnutls_transport_set_ptr(session, &fd);
		gnutls_transport_set_pull_function(session, pull);
		gnutls_transport_set_push_function(session, push);
	} else if (strcmp(how, "ptr") == 0) {
		gnutls_transport_set_ptr(session, (gnutls_transport_ptr_t)(intptr_t)fd);
	} else {
		gnutls_transport_set_int(session, fd);
	}
	if (gnutls_handshake(session) != 0)
		give_up("handshake");
	for (int i = 0; i < 4; i++) {
		int64_t start = now_ms();
		const char *seen = answer_to(session);

		printf("%s, %s\n", seen, length_of(now_ms() - start, 2000));
	}
	printf("connections: %d\n", *accepted);
	return 0;
}
