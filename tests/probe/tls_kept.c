/* SPDX-License-Identifier: MIT */
/*
 * A program that asks again on a kept connection as soon as the server has said 503, inside the TLS
 * of OpenSSL: no call on the socket tells anyone of it.
 *
 * Usage: tls_kept WRITE READ HANDSHAKE: asks four times by these calls of OpenSSL, on a socket that
 * blocks. WRITE: SSL_write|SSL_write_ex|bio; READ: SSL_read|SSL_read_ex|bytes|peek|bio; HANDSHAKE:
 * SSL_connect|SSL_do_handshake|implied (by the first write)|own_bio (OpenSSL never sees the socket,
 * as in curl from 7.87 on),
 * or: tls_kept nonblocking|unasked|long|two|again
 *
 * As a library (tls_kept.so) it is what tls_plugged loads.
 */
#include "tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

static SSL_CTX *serving, *asking;

/* --- the server --- */

static void certify(SSL_CTX *context)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = X509_new();
	X509_NAME *name = X509_get_subject_name(certificate);

	ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
	X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
	X509_set_pubkey(certificate, key);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"here", -1, -1,
	                           0);
	X509_set_issuer_name(certificate, name);
	if (X509_sign(certificate, key, EVP_sha256()) == 0 ||
	    SSL_CTX_use_certificate(context, certificate) != 1 ||
	    SSL_CTX_use_PrivateKey(context, key) != 1)
		give_up("certificate");
	X509_free(certificate);
	EVP_PKEY_free(key);
}

static void *welcome(int peer)
{
	SSL *session = SSL_new(serving);

	SSL_set_fd(session, peer);
	return SSL_accept(session) == 1 ? session : NULL;
}

static int receive(void *session, void *data, int n)
{
	return SSL_read(session, data, n);
}

static int reply(void *session, const void *data, int n)
{
	return SSL_write(session, data, n);
}

/* --- the program --- */

static int own_read(BIO *bio, char *data, int n)
{
	return (int)recv((int)(intptr_t)BIO_get_data(bio), data, (size_t)n, 0);
}

static int own_write(BIO *bio, const char *data, int n)
{
	return (int)send((int)(intptr_t)BIO_get_data(bio), data, (size_t)n, MSG_NOSIGNAL);
}

static long own_control(BIO *bio, int what, long number, void *at)
{
	(void)bio, (void)number, (void)at;
	return what == BIO_CTRL_FLUSH;
}

static BIO *own_bio(int fd)
{
	BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "own");
	BIO *bio;

	BIO_meth_set_read(method, own_read);
	BIO_meth_set_write(method, own_write);
	BIO_meth_set_ctrl(method, own_control);
	bio = BIO_new(method);
	BIO_set_data(bio, (void *)(intptr_t)fd);
	BIO_set_init(bio, 1);
	return bio;
}

static SSL *session_on(int fd, const char *handshake)
{
	SSL *session = SSL_new(asking);
	int done = 1;

	if (fd < 0)
		give_up("connect");
	if (strcmp(handshake, "own_bio") == 0) {
		BIO *bio = own_bio(fd);

		SSL_set_bio(session, bio, bio);
	} else {
		SSL_set_fd(session, fd);
	}
	SSL_set_connect_state(session);
	if (strcmp(handshake, "SSL_do_handshake") == 0)
		done = SSL_do_handshake(session);
	else if (strcmp(handshake, "implied") != 0)
		done = SSL_connect(session);
	if (done != 1)
		give_up("handshake");
	return session;
}

/* BIO_read and BIO_write call the library's own reading and writing from inside it, past any hook.
 */
static BIO *bio_of(SSL *session)
{
	static BIO *bio;

	if (bio == NULL) {
		bio = BIO_new(BIO_f_ssl());
		BIO_set_ssl(bio, session, BIO_NOCLOSE);
	}
	return bio;
}

static int write_by(SSL *session, const char *call, const char *text)
{
	size_t sent = 0;
	int done;

	if (strcmp(call, "bio") == 0)
		return BIO_write(bio_of(session), text, (int)strlen(text));
	if (strcmp(call, "SSL_write") == 0)
		return SSL_write(session, text, (int)strlen(text));
	done = SSL_write_ex(session, text, strlen(text), &sent);
	return done == 1 ? (int)sent : done;
}

static int read_by(SSL *session, const char *call, char *data, int n)
{
	size_t got = 0;
	int done;

	if (strcmp(call, "bio") == 0)
		return BIO_read(bio_of(session), data, n);
	if (strcmp(call, "bytes") == 0)
		return SSL_read(session, data, 1);
	if (strcmp(call, "peek") == 0 && (done = SSL_peek(session, data, n)) <= 0)
		return done;
	if (strcmp(call, "SSL_read_ex") != 0)
		return SSL_read(session, data, n);
	done = SSL_read_ex(session, data, (size_t)n, &got);
	return done == 1 ? (int)got : done;
}

/* Why a call of OpenSSL failed. That a connection was ended is told in one of two ways, as it was
 * seen by a read or by a write first. */
static const char *why(SSL *session, int done)
{
	int error = SSL_get_error(session, done);
	const char *reason = ERR_reason_error_string(ERR_peek_error());

	if (error == SSL_ERROR_ZERO_RETURN)
		return "end of session";
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return "nothing yet";
	if (error == SSL_ERROR_SYSCALL ||
	    (reason && strcmp(reason, "unexpected eof while reading") == 0))
		return "a broken connection";
	return reason ? reason : "no reason";
}

static const char *answer_to(SSL *session, const char *writing, const char *reading)
{
	static char data[512];
	int have = 0, done = write_by(session, writing, ASK);

	if (done != (int)strlen(ASK))
		return why(session, done);
	data[0] = '\0';
	while (!tls_complete(data)) {
		done = read_by(session, reading, data + have, (int)sizeof(data) - 1 - have);
		if (done <= 0)
			return why(session, done);
		have += done;
		data[have] = '\0';
	}
	return tls_seen(data);
}

static void ask(SSL *session, const char *writing, const char *reading)
{
	int64_t start = now_ms();
	const char *seen = answer_to(session, writing, reading);

	printf("%s, %s\n", seen, length_of(now_ms() - start, 2000));
}

/* How its connect went the program never asks: it begins to send once it may. */
static void on_unasked(uint16_t port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct sockaddr_in to = loopback(port);
	struct pollfd at = { .fd = fd, .events = POLLOUT };
	SSL *session = SSL_new(asking);

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno != EINPROGRESS)
		give_up("connect");
	poll(&at, 1, 5000);
	SSL_set_fd(session, fd);
	at.events = POLLIN;
	while (SSL_connect(session) != 1)
		if (poll(&at, 1, 5000) != 1)
			give_up("handshake");
	fcntl(fd, F_SETFL, 0);
	for (int i = 0; i < 4; i++)
		ask(session, "SSL_write", "SSL_read");
}

/* What a program sees that must not wait: the connection as one that the server has closed. */
static void on_nonblocking(uint16_t port)
{
	int fd = connected(port), done;
	SSL *session = session_on(fd, "SSL_connect");
	struct pollfd at = { .fd = fd, .events = POLLIN };
	char data[512];

	ask(session, "SSL_write", "SSL_read");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	done = SSL_write(session, ASK, (int)strlen(ASK));
	printf("sent: %s\n", done > 0 ? "all" : why(session, done));
	while (done > 0) { /* records of the session itself are no reply */
		int waited = poll(&at, 1, 2000);

		done = SSL_read(session, data, sizeof(data));
		if (done > 0 || waited != 1 ||
		    SSL_get_error(session, done) != SSL_ERROR_WANT_READ) {
			printf("then: %s\n", done > 0 ? "a reply" : why(session, done));
			break;
		}
		done = 1;
	}
	pause_ms(300);
	printf("requests at the server: %d\n", *asked);
}

static void on_two(uint16_t port)
{
	SSL *both[2] = { session_on(connected(port), "SSL_connect"),
		         session_on(connected(port), "SSL_connect") };

	for (int i = 0; i < 4; i++)
		ask(both[i % 2], "SSL_write", "SSL_read");
}

/* A new connection for each request: connect is refused. */
static void on_again(uint16_t port)
{
	for (int i = 0; i < 4; i++) {
		int64_t start = now_ms();
		int fd = connected(port);
		SSL *session;
		const char *seen;

		if (fd < 0) {
			printf("%s, %s\n", error_name(errno), length_of(now_ms() - start, 2000));
			continue;
		}
		session = session_on(fd, "SSL_connect");
		seen = answer_to(session, "SSL_write", "SSL_read");

		printf("%s, %s\n", seen, length_of(now_ms() - start, 2000));
		SSL_shutdown(session);
		SSL_free(session);
		close(fd);
	}
}

int tls_kept(int argc, char **argv)
{
	static const struct tls_server server = { welcome, receive, reply };
	const char *scene = argc > 1 ? argv[1] : "SSL_write";
	uint16_t port;

	serving = SSL_CTX_new(TLS_server_method());
	asking = SSL_CTX_new(TLS_client_method());
	certify(serving);
	if (strcmp(scene, "long") == 0)
		later = "30";
	port = start_tls_server(&server);
	if (strcmp(scene, "nonblocking") == 0) {
		on_nonblocking(port);
	} else if (strcmp(scene, "unasked") == 0) {
		on_unasked(port);
	} else if (strcmp(scene, "two") == 0) {
		on_two(port);
	} else if (strcmp(scene, "again") == 0) {
		on_again(port);
	} else {
		SSL *session = session_on(connected(port), argc > 3 ? argv[3] : "SSL_connect");
		bool brief = strcmp(scene, "long") == 0;

		for (int i = 0; i < (brief ? 2 : 4); i++)
			ask(session, brief ? "SSL_write" : scene, argc > 2 ? argv[2] : "SSL_read");
	}
	printf("connections: %d\n", *accepted);
	return 0;
}

#ifndef A_LIBRARY
int main(int argc, char **argv)
{
	return tls_kept(argc, argv);
}
#endif
