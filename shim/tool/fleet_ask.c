/* SPDX-License-Identifier: MIT */
/* By hiredis. What a server answers is bytes of a stranger: printed without control characters. */
#ifndef WITHOUT_HIREDIS
#include "tool/fleet_ask.h"

#include "tool/fleet_password.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static bool complain(const struct fleet_server *server, const char *why)
{
	fprintf(stderr, "retrybudget: fleet: %s: ", server->name);
	for (; *why; why++)
		fputc(*why < ' ' || *why > '~' ? '?' : *why, stderr);
	fputc('\n', stderr);
	return false;
}

/* The reply to what was sent last, or NULL, told. */
static redisReply *answer_of(struct fleet_server *server, void *reply)
{
	redisReply *answer = reply;

	if (!answer) {
		(void)complain(server, server->context->errstr);
		return NULL;
	}
	if (answer->type != REDIS_REPLY_ERROR)
		return answer;
	(void)complain(server, strstr(answer->str, "Function not found")
	                           ? "it has no library: load conf/fleet/retrybudget.lua"
	                           : answer->str);
	freeReplyObject(answer);
	return NULL;
}

static bool authenticate(struct fleet_server *server, const char *user, const char *password_file)
{
	const char *reason = "", *argv[] = { "AUTH", user, NULL };
	char password[FLEET_PASSWORD];
	ssize_t n = fleet_password(password_file, password, &reason);
	size_t lengths[] = { 4, strlen(user), n > 0 ? (size_t)n : 0 };
	redisReply *reply;

	if (n < 0)
		return complain(server, reason);
	if (n == 0)
		return true;
	argv[2] = password;
	reply = answer_of(server, redisCommandArgv(server->context, 3, argv, lengths));
	explicit_bzero(password, sizeof(password));
	if (reply)
		freeReplyObject(reply);
	return reply != NULL;
}

bool fleet_ask_open(struct fleet_server *server, const char *user, const char *password_file)
{
	const struct timeval timeout = { 2, 0 };

	if (server->at.port == 0) {
		snprintf(server->name, sizeof(server->name), "unix:%s", server->at.host);
		server->context = redisConnectUnixWithTimeout(server->at.host, timeout);
	} else {
		snprintf(server->name, sizeof(server->name), "%s:%u", server->at.host,
		         server->at.port);
		server->context =
		    redisConnectWithTimeout(server->at.host, server->at.port, timeout);
	}
	if (!server->context)
		return complain(server, "no memory");
	if (!server->context->err && redisSetTimeout(server->context, timeout) == REDIS_OK &&
	    authenticate(server, user, password_file))
		return true;
	if (server->context->err)
		(void)complain(server, server->context->errstr);
	fleet_ask_close(server);
	return false;
}

void fleet_ask_close(struct fleet_server *server)
{
	if (server->context)
		redisFree(server->context);
	server->context = NULL;
}

int fleet_ask(struct fleet_server *server, const struct wire_call *call, int64_t *numbers, int most)
{
	redisReply *reply =
	    answer_of(server, redisCommandArgv(server->context, call->count,
	                                       (const char **)call->argv, call->lengths));
	int count = -1;

	if (!reply)
		return -1;
	if (reply->type == REDIS_REPLY_INTEGER && most > 0) {
		numbers[0] = reply->integer;
		count = 1;
	} else if (reply->type == REDIS_REPLY_ARRAY && reply->elements <= (size_t)most) {
		count = (int)reply->elements;
		for (int i = 0; i < count; i++)
			numbers[i] = reply->element[i]->type == REDIS_REPLY_INTEGER
			                 ? reply->element[i]->integer
			                 : 0;
	} else {
		(void)complain(server, "an answer that is none");
	}
	freeReplyObject(reply);
	return count;
}

/* -1: it does not say. */
static int replicas_of(struct fleet_server *server)
{
	redisReply *role = redisCommand(server->context, "ROLE");
	int count = -1;

	if (role && role->type == REDIS_REPLY_ARRAY && role->elements == 3 &&
	    role->element[2]->type == REDIS_REPLY_ARRAY)
		count = (int)role->element[2]->elements;
	if (role)
		freeReplyObject(role);
	return count;
}

void fleet_ask_copied(struct fleet_server *server)
{
	const int replicas = replicas_of(server);
	redisReply *have;

	if (replicas == 0)
		return;
	have = replicas > 0 ? redisCommand(server->context, "WAIT 1 1000") : NULL;
	if (!have || have->type != REDIS_REPLY_INTEGER)
		(void)complain(server, "done, but whether a replica has it this user may not ask "
		                       "(ROLE, WAIT: conf/fleet/users.acl)");
	else if (have->integer == 0)
		(void)complain(server, "done, but no replica has it yet: if this server fails now "
		                       "the older rule comes back; then say it again");
	if (have)
		freeReplyObject(have);
}

/* A server that keeps more than a million keys is no ledger's alone, and need not have an end. */
#define SCANS   1000
#define SCANNED "1000"

/* What SCAN takes for itself is escaped. */
static bool pattern_of(char *pattern, size_t size, const char *start)
{
	size_t n = 0;

	for (; *start && n + 3 < size; start++) {
		if (strchr("*?[]\\^-", *start))
			pattern[n++] = '\\';
		pattern[n++] = *start;
	}
	pattern[n++] = '*';
	pattern[n] = '\0';
	return *start == '\0';
}

static void take_keys(const redisReply *keys, const char *start,
                      void (*found)(void *arg, const char *host), void *arg)
{
	for (size_t i = 0; i < keys->elements; i++)
		if (keys->element[i]->type == REDIS_REPLY_STRING &&
		    strncmp(keys->element[i]->str, start, strlen(start)) == 0)
			found(arg, keys->element[i]->str + strlen(start));
}

bool fleet_ask_hosts(struct fleet_server *server, const char *prefix,
                     void (*found)(void *arg, const char *host), void *arg)
{
	char start[WIRE_KEY], pattern[2 * WIRE_KEY], cursor[32] = "0";
	redisReply *reply;
	int scans = 0;

	if (!wire_key(start, prefix, WIRE_HOST, "") || !pattern_of(pattern, sizeof(pattern), start))
		return complain(server, "too long a name");
	do {
		reply = answer_of(server,
		                  redisCommand(server->context, "SCAN %s MATCH %s COUNT " SCANNED,
		                               cursor, pattern));
		if (!reply)
			return false;
		if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
		    reply->element[0]->type != REDIS_REPLY_STRING ||
		    reply->element[1]->type != REDIS_REPLY_ARRAY) {
			freeReplyObject(reply);
			return complain(server, "an answer that is none");
		}
		snprintf(cursor, sizeof(cursor), "%s", reply->element[0]->str);
		take_keys(reply->element[1], start, found, arg);
		freeReplyObject(reply);
		if (strcmp(cursor, "0") == 0)
			return true;
	} while (++scans < SCANS);
	(void)complain(server, "it has more than a million keys: not all hosts are shown");
	return true;
}
#else
typedef int fleet_is_not_asked;
#endif
