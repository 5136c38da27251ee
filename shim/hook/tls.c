/* SPDX-License-Identifier: MIT */
/*
 * Requests and replies inside TLS, between the program and its TLS library: judged there as those
 * in clear text are at the socket, while the hooks on the socket let what carries them pass.
 *
 * What must not be sent is not refused here, where each library has its own way to say so: the
 * session's next send on the socket is (pace/result.c, conn/tls_session.h), and the library tells
 * the program of it as of any broken connection.
 */
#include "hook/tls.h"

#include "config/config.h"
#include "config/current.h"
#include "conn/tls_session.h"
#include "conn/tls_traffic.h"
#include "hook/imports.h"
#include "hook/request.h"
#include "report/record.h"
#include "report/report.h"
#include "sys/fault.h"
#include "sys/real.h"

#include <errno.h>
#include <pthread.h>

static struct {
#define LIBRARY(type, name, parameters, purpose) type(*name) parameters;
#include "sys/hooks.def"
} library;

#define LIBRARY(type, name, parameters, purpose) static type name##_hook parameters;
#include "sys/hooks.def"

static const struct import imports[] = {
#define LIBRARY(type, name, parameters, purpose)                                                   \
	{ #name, (void *)name##_hook, (void **)&library.name },
#include "sys/hooks.def"
};

_Static_assert(sizeof(imports) / sizeof(*imports) <= IMPORTS_MOST, "more than are looked for");

void tls_prepare(void)
{
	if (!config_current()->tls)
		return;
	session_prepare();
	imports_place(imports, sizeof(imports) / sizeof(*imports));
}

/* glibc leaves the loader's lock to a forked child as it was, held perhaps by a thread that the
 * child does not have (2.36): it would wait there for ever. What a child calls is placed before the
 * fork, or when it calls dlopen, which takes the same lock. */
void tls_place(void)
{
	if (thread_is_of_first())
		tls_prepare();
}

void tls_start(void)
{
	tls_prepare();
	if (config_current()->tls && pthread_atfork(tls_place, NULL, NULL) != 0)
		fault_count();
}

/* A call of the library. */
struct call {
	const void *session, *outer;
	uint32_t fingerprint;
};

static void enter(struct call *call, const void *session)
{
	call->session = session;
	call->outer = session_enter(session);
}

static void begin_write(struct call *call, const void *session, const void *data, size_t n)
{
	int fd = session_fd(session), saved = errno;

	call->fingerprint = 0;
	if (fd >= 0 && n > 0)
		call->fingerprint = request_begin_inside(fd, data, n);
	errno = saved;
	enter(call, session);
}

static void end_write(const struct call *call, bool went)
{
	int fd = session_fd(call->session);

	session_leave(call->outer);
	if (fd < 0)
		return;
	(void)session_told(fd); /* nothing was sent that could have been told */
	tls_traffic_sent(fd, went, call->fingerprint);
}

/* n: bytes that came; 0 or less: none, for whatever reason. */
static void end_read(const struct call *call, const void *data, ssize_t n)
{
	int fd = session_fd(call->session);

	session_leave(call->outer);
	if (fd >= 0)
		tls_traffic_received(fd, data, n);
}

static void end_handshake(const struct call *call, bool over)
{
	int fd = session_fd(call->session);

	session_leave(call->outer);
	if (fd >= 0 && over)
		tls_traffic_opened(fd);
}

static void begin_close_notify(struct call *call, const void *session)
{
	int fd = session_fd(session), saved = errno;

	if (fd >= 0)
		tls_traffic_close_notify(fd);
	errno = saved;
	enter(call, session);
}

static int SSL_write_hook(void *session, const void *data, int n)
{
	struct call call;
	int result;

	begin_write(&call, session, data, n < 0 ? 0 : (size_t)n);
	result = library.SSL_write(session, data, n);
	end_write(&call, result > 0);
	return result;
}

static int SSL_write_ex_hook(void *session, const void *data, size_t n, size_t *done)
{
	struct call call;
	int result;

	begin_write(&call, session, data, n);
	result = library.SSL_write_ex(session, data, n, done);
	end_write(&call, result > 0);
	return result;
}

static int SSL_read_hook(void *session, void *data, int n)
{
	struct call call;
	int result;

	enter(&call, session);
	result = library.SSL_read(session, data, n);
	end_read(&call, data, result);
	return result;
}

static int SSL_read_ex_hook(void *session, void *data, size_t n, size_t *done)
{
	struct call call;
	int result;

	enter(&call, session);
	result = library.SSL_read_ex(session, data, n, done);
	end_read(&call, data, result > 0 ? (ssize_t)*done : 0);
	return result;
}

static int SSL_peek_hook(void *session, void *data, int n)
{
	const void *outer = session_enter(session);
	int result = library.SSL_peek(session, data, n);

	session_leave(outer);
	return result;
}

static int SSL_peek_ex_hook(void *session, void *data, size_t n, size_t *done)
{
	const void *outer = session_enter(session);
	int result = library.SSL_peek_ex(session, data, n, done);

	session_leave(outer);
	return result;
}

static int SSL_shutdown_hook(void *session)
{
	struct call call;
	int result;

	begin_close_notify(&call, session);
	result = library.SSL_shutdown(session);
	session_leave(call.outer);
	return result;
}

static int SSL_connect_hook(void *session)
{
	struct call call;
	int result;

	enter(&call, session);
	result = library.SSL_connect(session);
	end_handshake(&call, result == 1);
	return result;
}

static int SSL_do_handshake_hook(void *session)
{
	struct call call;
	int result;

	enter(&call, session);
	result = library.SSL_do_handshake(session);
	end_handshake(&call, result == 1);
	return result;
}

static ssize_t gnutls_record_send_hook(void *session, const void *data, size_t n)
{
	struct call call;
	ssize_t result;

	begin_write(&call, session, data, n);
	result = library.gnutls_record_send(session, data, n);
	end_write(&call, result > 0);
	return result;
}

static ssize_t gnutls_record_recv_hook(void *session, void *data, size_t n)
{
	struct call call;
	ssize_t result;

	enter(&call, session);
	result = library.gnutls_record_recv(session, data, n);
	end_read(&call, data, result);
	return result;
}

static int gnutls_handshake_hook(void *session)
{
	struct call call;
	int result;

	enter(&call, session);
	result = library.gnutls_handshake(session);
	end_handshake(&call, result == 0);
	return result;
}

static int gnutls_bye_hook(void *session, int how)
{
	struct call call;
	int result;

	begin_close_notify(&call, session);
	result = library.gnutls_bye(session, how);
	session_leave(call.outer);
	return result;
}
