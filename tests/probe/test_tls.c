/* SPDX-License-Identifier: MIT */
/* Requests sent again on a kept connection after an HTTP/1 reply of failure inside TLS. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

/* What the server asks for is all that throttles anything. */
#define POLICY    "base = 1ms\ncap = 1ms\nmin = 1ms\nfactor = 1\njitter = none\n"
#define READ      POLICY "tls = on\n"
#define BARE_FOUR "503 never, at once\n503 never, at once\n200 world, at once\n200 world, at once\n"
/* A repeat finds the connection ended. */
#define THREE(end)   end ", at once\n" end ", at once\n" end ", at once\n"
#define HELD_BY(end) "503 never, at once\n" THREE(end)
#define BROKEN       "a broken connection"
#define HELD_FOUR    HELD_BY(BROKEN)

TestSuite(tls, .fini = discard_scratch);

/* The programs are left out where their library's headers are not. */
static void need(const char *program)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/probe/%s", build_directory(), program);
	if (access(path, X_OK) != 0)
		cr_skip_test("%s has not been built here", program);
}

static void scene(const struct probe *probe, const char *plain, const char *held)
{
	need(probe->program);
	expect(probe, plain, held);
}

static void kept(const char *writing, const char *reading, const char *handshake)
{
	scene(&(struct probe) { .program = "tls_kept",
	                        .arguments = { writing, reading, handshake },
	                        .policy = READ },
	      BARE_FOUR "connections: 1\n", HELD_FOUR "connections: 1\n");
}

Test(tls, openssl)
{
	kept("SSL_write", "SSL_read", "SSL_connect");
}

Test(tls, openssl_ex)
{
	kept("SSL_write_ex", "SSL_read_ex", "SSL_do_handshake");
}

Test(tls, openssl_byte_by_byte)
{
	kept("SSL_write", "bytes", "implied");
}

Test(tls, openssl_peek)
{
	kept("SSL_write_ex", "peek", "SSL_connect");
}

/* Which connection it is, only the calls on the socket inside tell. */
Test(tls, openssl_that_is_told_no_socket)
{
	kept("SSL_write", "SSL_read", "own_bio");
}

Test(tls, openssl_on_a_connect_nobody_asked_about)
{
	scene(&(struct probe) { .program = "tls_kept", .arguments = { "unasked" }, .policy = READ },
	      BARE_FOUR "connections: 1\n", HELD_FOUR "connections: 1\n");
}

Test(tls, openssl_with_new_connections)
{
	scene(&(struct probe) { .program = "tls_kept", .arguments = { "again" }, .policy = READ },
	      BARE_FOUR "connections: 4\n", HELD_BY("ECONNREFUSED") "connections: 1\n");
}

/* Two sessions side by side, each on its own connection. */
Test(tls, openssl_with_two_connections)
{
	scene(&(struct probe) { .program = "tls_kept", .arguments = { "two" }, .policy = READ },
	      BARE_FOUR "connections: 2\n",
	      "503 never, at once\n503 never, at once\n" BROKEN ", at once\n" BROKEN ", at once\n"
	      "connections: 2\n");
}

static void may_not_wait(const char *policy, const char *held)
{
	scene(&(struct probe) { .program = "tls_kept",
	                        .arguments = { "nonblocking" },
	                        .policy = policy },
	      "503 never, at once\nsent: all\nthen: a reply\nrequests at the server: 2\n"
	      "connections: 1\n",
	      held);
}

Test(tls, on_a_socket_that_must_not_wait_looks_broken)
{
	may_not_wait(READ, "503 never, at once\nsent: all\nthen: a broken connection\n"
	                   "requests at the server: 1\nconnections: 1\n");
}

Test(tls, on_a_socket_that_must_not_wait_may_fail)
{
	may_not_wait(READ "http_deny = reset\n", "503 never, at once\nsent: a broken connection\n"
	                                         "requests at the server: 1\nconnections: 1\n");
}

Test(tls, on_a_socket_that_must_not_wait_may_pass)
{
	may_not_wait(READ "http_deny = pass\n", NULL);
}

/* What nobody sees inside is judged as without tls, whichever half it is. */
Test(tls, openssl_by_its_bio)
{
	static const char *const by[][2] = { { "bio", "bio" }, { "SSL_write", "bio" } };

	for (int i = 0; i < 2; i++) {
		scene(&(struct probe) { .program = "tls_kept",
		                        .arguments = { by[i][0], by[i][1], "SSL_connect" },
		                        .policy = READ },
		      BARE_FOUR "connections: 1\n", NULL);
	}
}

/* Off, as it is if nothing is said, nobody looks. */
Test(tls, off)
{
	scene(&(struct probe) { .program = "tls_kept", .policy = POLICY "http = on\n" },
	      BARE_FOUR "connections: 1\n", NULL);
}

static void gnutls(const char *how)
{
	scene(&(struct probe) { .program = "tls_gnutls", .arguments = { how }, .policy = READ },
	      BARE_FOUR "connections: 1\n",
	      "503 never, at once\n"
	      "The TLS connection was non-properly terminated., at once\n"
	      "The specified session has been invalidated for some reason., at once\n"
	      "The specified session has been invalidated for some reason., at once\n"
	      "connections: 1\n");
}

Test(tls, gnutls)
{
	gnutls("int");
}

Test(tls, gnutls_by_pointer)
{
	gnutls("ptr");
}

Test(tls, gnutls_that_is_told_no_socket)
{
	gnutls("functions");
}

static void plugged(const char *how)
{
	scene(&(struct probe) { .program = "tls_plugged",
	                        .arguments = { how, "SSL_write", "SSL_read" },
	                        .general = "deepbind = strip",
	                        .policy = READ },
	      "before: nothing\nafter: nothing\n" BARE_FOUR "connections: 1\n",
	      "before: nothing\nafter: nothing\n" HELD_FOUR "connections: 1\n");
}

Test(tls, plug_in_bound_lazily)
{
	plugged("lazy");
}

Test(tls, plug_in_bound_at_once)
{
	plugged("now");
}

Test(tls, plug_in_with_deepbind)
{
	plugged("deepbind");
}

Test(tls, programs_without_it_find_none)
{
	scene(&(struct probe) { .program = "tls_absent", .policy = READ },
	      "SSL_read: not found, not linked\nSSL_read_ex: not found, not linked\n"
	      "SSL_write: not found, not linked\nSSL_write_ex: not found, not linked\n"
	      "SSL_connect: not found, not linked\nSSL_do_handshake: not found, not linked\n"
	      "SSL_get_fd: not found, not linked\nSSL_get_rfd: not found, not linked\n"
	      "gnutls_record_recv: not found, not linked\n"
	      "gnutls_record_send: not found, not linked\n"
	      "gnutls_handshake: not found, not linked\n"
	      "gnutls_transport_get_int: not found, not linked\n",
	      NULL);
}

/* It must call what it would be bound to, wherever that lies by then. */
Test(tls, library_that_is_unloaded_before_it_is_called)
{
	scene(&(struct probe) { .program = "tls_unloaded", .policy = READ }, "read by library 2\n",
	      NULL);
}

/* What it looks for is looked for by the loader. */
Test(tls, children_of_a_program_that_is_in_the_loader)
{
	scene(&(struct probe) { .program = "fork_loader",
	                        .arguments = { "200" },
	                        .policy = READ,
	                        .log = "target = none" },
	      "children that did not end: 0\n", NULL);
}

static void twin(const char *who, const char *plain, const char *held)
{
	scene(&(struct probe) { .program = "tls_twin", .arguments = { who }, .policy = READ },
	      plain, held);
}

TestSuite(tls_twin, .fini = discard_scratch);

Test(tls_twin, that_the_program_is_linked_with)
{
	twin("linked", "by the first\n" BARE_FOUR "connections: 1\n",
	     "by the first\n" HELD_BY("half a reply") "connections: 1\n");
}

Test(tls_twin, that_a_plug_in_calls)
{
	twin("plugged", "by the first\n" BARE_FOUR "connections: 1\n",
	     "by the first\n" HELD_BY("half a reply") "connections: 1\n");
}

/* It must get what it was bound to, if only by being left alone. */
Test(tls_twin, of_which_a_plug_in_has_another)
{
	twin("both", "by the first\n" BARE_FOUR "by the second\n" BARE_FOUR "connections: 2\n",
	     "by the first\n" HELD_BY("half a reply") "by the second\n" BARE_FOUR
	                                              "connections: 2\n");
}

/* Its code is written to by nobody but the loader: it is left alone, and all of it. */
Test(tls_twin, which_code_itself_has_the_address_of)
{
	twin("text", "by the first\n" BARE_FOUR "connections: 1\n", NULL);
}

/* Somebody connects while the loader is at it, and what calls by then is looked for. */
Test(tls_twin, of_a_plug_in_that_was_not_ready)
{
	twin("late", "by the first\n" BARE_FOUR "connections: 1\n",
	     "by the first\n" HELD_BY("half a reply") "connections: 1\n");
}
