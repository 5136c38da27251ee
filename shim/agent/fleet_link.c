/* SPDX-License-Identifier: MIT */
/* hiredis on libevent. A context is never freed from within a reply of its own: it is marked, and
 * hiredis frees it afterwards. */
#include "agent/fleet_link.h"

#include "agent/fleet_guard.h"
#include "budget/backoff.h"
#include "tool/fleet_password.h"

#include <hiredis/adapters/libevent.h>
#include <hiredis/async.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIVE_UP_US 2000000 /* of a connect, and of its AUTH */

static const char *const words[LINK_STATES] = { "connecting", "up",       "down",   "slow",
	                                        "loading",    "readonly", "memory", "disk",
	                                        "password",   "version",  "strange" };

static const struct {
	const char *word;
	enum link_state state;
} errors[] = {
	{ "READONLY", LINK_READONLY },
	{ "OOM", LINK_MEMORY },
	{ "MISCONF", LINK_DISK },
	{ "LOADING", LINK_LOADING },
	{ "MASTERDOWN", LINK_LOADING },
	{ "BUSY", LINK_LOADING },
	{ "TRYAGAIN", LINK_LOADING },
	{ "NOREPLICAS", LINK_LOADING },
	{ "NOAUTH", LINK_PASSWORD },
	{ "WRONGPASS", LINK_PASSWORD },
	{ "NOPERM", LINK_PASSWORD },
	{ "DENIED", LINK_PASSWORD }, /* protected mode: its own user has none */
	{ "ERR The user executing the script", LINK_PASSWORD },
	{ "ERR Function not found", LINK_VERSION },
	{ "ERR unknown command", LINK_VERSION },
};

const char *link_word(enum link_state state)
{
	return words[state];
}

enum link_state link_state_of(const char *error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (strncmp(error, errors[i].word, strlen(errors[i].word)) == 0)
			return errors[i].state;
	return LINK_STRANGE;
}

void link_name(const struct fleet_link *link, char *name, size_t size)
{
	if (link->server.port == 0)
		snprintf(name, size, "unix:%s", link->server.host);
	else
		snprintf(name, size, "%s:%u", link->server.host, link->server.port);
}

void link_note(struct fleet_link *link, enum link_state state, const char *reason)
{
	enum link_state before = link->state;
	char name[160];

	link->state = state;
	/* Bytes that a server chose stand in a record. */
	snprintf(link->reason, sizeof(link->reason), "%s", reason);
	for (char *at = link->reason; *at; at++)
		if (*at < ' ' || *at > '~' || *at == '"')
			*at = '?';
	if (state == before)
		return;
	link_name(link, name, sizeof(name));
	fprintf(stderr,
	        "retrybudgetd: event=fleet-server server=%s state=%s was=%s reason=\"%s\"\n", name,
	        words[state], words[before], link->reason);
}

static void connect_now(struct fleet_link *link);

static void wait_us(struct fleet_link *link, int64_t us)
{
	struct timeval time = { us / 1000000, us % 1000000 };

	(void)event_add(link->timer, &time);
}

int64_t link_backoff(struct fleet_link *link, int64_t streak)
{
	const struct backoff_rule rule = { .base = 200 * NS_PER_MS,
		                           .factor = 2000,
		                           .cap = 10 * NS_PER_S,
		                           .min = 50 * NS_PER_MS,
		                           .jitter = JITTER_EQUAL };

	return backoff_delay(&rule, streak, 0, &link->random);
}

static void connect_later(struct fleet_link *link)
{
	wait_us(link, link_backoff(link, link->streak++) / 1000);
}

/* Before hiredis is asked to free it, so that nothing of it is looked at afterwards. */
static void drop(struct fleet_link *link)
{
	redisAsyncContext *context = link->context;

	name_cancel(&link->name);
	link->context = NULL;
	link->is_ready = false;
	if (!context)
		return;
	context->data = NULL;
	redisAsyncFree(context);
}

void link_fail(struct fleet_link *link, enum link_state state, const char *reason)
{
	link->failures++;
	drop(link);
	link_note(link, state, reason);
	connect_later(link);
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
	struct fleet_link *link = arg;

	(void)fd;
	(void)what;
	if (link->context && !link->is_ready && link->gives_up)
		link_fail(link, LINK_PASSWORD, link->gives_up);
	else if (link->context && !link->is_ready)
		link_fail(link, link->is_connected ? LINK_SLOW : LINK_DOWN,
		          link->is_connected ? "no answer" : "no answer to the connect");
	else if (link->name.request)
		link_fail(link, LINK_DOWN, "no answer to the lookup of its name");
	else if (!link->context)
		connect_now(link);
}

static void be_ready(struct fleet_link *link)
{
	link->is_ready = true;
	link->connects++;
	(void)event_del(link->timer);
}

static void on_auth(redisAsyncContext *context, void *reply, void *arg)
{
	const redisReply *told = reply;
	struct fleet_link *link = context->data;

	(void)arg;
	if (!link || !told)
		return;
	if (told->type == REDIS_REPLY_ERROR)
		link_fail(link, link_state_of(told->str), told->str);
	else
		be_ready(link);
}

static void on_connect(const redisAsyncContext *context, int status)
{
	struct fleet_link *link = context->data;
	const char *reason = "";
	char password[FLEET_PASSWORD];
	ssize_t n;

	if (!link)
		return;
	if (status != REDIS_OK) {
		/* hiredis frees it when this returns. */
		link->context = NULL;
		link->failures++;
		link_note(link, LINK_DOWN, context->errstr ? context->errstr : "no connection");
		connect_later(link);
		return;
	}
	link->is_connected = true;
	n = fleet_password(link->settings->password_file, password, &reason);
	if (n < 0) { /* from here it must not be freed */
		link->gives_up = reason;
		wait_us(link, 0);
	} else if (n == 0) {
		be_ready(link);
	} else {
		const char *argv[] = { "AUTH", link->settings->user, password };
		size_t lengths[] = { 4, strlen(link->settings->user), (size_t)n };

		(void)redisAsyncCommandArgv(link->context, on_auth, NULL, 3, argv, lengths);
	}
	explicit_bzero(password, sizeof(password));
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
	struct fleet_link *link = context->data;

	(void)status;
	if (!link || link->context != context)
		return;
	link->context = NULL;
	link->is_ready = false;
	link->failures++;
	if (link->is_strange)
		link_note(link, LINK_STRANGE, "a reply that nobody asked for");
	else
		link_note(link, LINK_DOWN,
		          context->errstr && *context->errstr ? context->errstr : "it was closed");
	connect_later(link);
}

/* host: an address, or the path of a socket. */
static void connect_to(struct fleet_link *link, const char *host)
{
	redisAsyncContext *context = link->server.port == 0
	                                 ? redisAsyncConnectUnix(host)
	                                 : redisAsyncConnect(host, link->server.port);

	if (!context || context->err) {
		link->failures++;
		link_note(link, LINK_DOWN, context ? context->errstr : "no memory");
		if (context)
			redisAsyncFree(context);
		connect_later(link);
		return;
	}
	context->data = link;
	link->context = context;
	link->gives_up = NULL;
	link->is_connected = false;
	link->is_strange = false;
	guard_replies(context);
	if (redisLibeventAttach(context, link->base) != REDIS_OK) {
		link_fail(link, LINK_DOWN, "no memory");
		return;
	}
	redisAsyncSetDisconnectCallback(context, on_disconnect);
	redisAsyncSetConnectCallback(context, on_connect);
	wait_us(link, GIVE_UP_US);
}

static void on_name(void *arg, const char *address, const char *why)
{
	struct fleet_link *link = arg;

	if (address)
		connect_to(link, address);
	else
		link_fail(link, LINK_DOWN, why);
}

static void connect_now(struct fleet_link *link)
{
	if (link->server.port == 0 || name_is_address(link->server.host)) {
		connect_to(link, link->server.host);
		return;
	}
	wait_us(link, GIVE_UP_US);
	if (!name_ask(&link->name, link->base, link->server.host, on_name, link))
		link_fail(link, LINK_DOWN, "no memory");
}

bool link_start(struct fleet_link *link)
{
	link->timer = event_new(link->base, -1, 0, on_time, link);
	if (!link->timer)
		return false;
	connect_now(link);
	return true;
}

void link_end(struct fleet_link *link)
{
	drop(link);
	name_end(&link->name);
	if (link->timer)
		event_free(link->timer);
	link->timer = NULL;
}

struct call {
	link_reply *told;
	void *arg;
};

static void on_reply(redisAsyncContext *context, void *reply, void *arg)
{
	struct call call = *(struct call *)arg;

	free(arg);
	/* Of a connection that was given up no reply counts. */
	call.told(call.arg, context->data ? reply : NULL);
}

bool link_call(struct fleet_link *link, link_reply *told, void *arg, int argc, const char **argv,
               const size_t *lengths)
{
	struct call *call;

	if (!link->context || !link->is_ready)
		return false;
	call = malloc(sizeof(*call));
	if (!call)
		return false;
	*call = (struct call) { told, arg };
	if (redisAsyncCommandArgv(link->context, on_reply, call, argc, argv, lengths) == REDIS_OK)
		return true;
	free(call);
	return false;
}
