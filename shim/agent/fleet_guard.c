/* SPDX-License-Identifier: MIT */
/* The reader of hiredis asks for an object for each reply that begins; where nobody waits for one
 * it is given none. */
#include "agent/fleet_guard.h"

#include "agent/fleet_link.h"

#include <hiredis/async.h>
#include <hiredis/hiredis.h>

#if HIREDIS_MAJOR >= 1
typedef size_t elements;
#else
typedef int elements;
#endif

static redisReplyObjectFunctions plain, guarded;

/* An error hiredis itself takes, as what a server says that has no room for another client. */
static bool is_unasked(const redisReadTask *task)
{
	const redisAsyncContext *context = task->privdata;
	struct fleet_link *link = context->data;

	if (task->parent || task->type == REDIS_REPLY_ERROR || context->replies.head)
		return false;
	if (link)
		link->is_strange = true;
	return true;
}

static void *string(const redisReadTask *task, char *bytes, size_t n)
{
	return is_unasked(task) ? NULL : plain.createString(task, bytes, n);
}

static void *array(const redisReadTask *task, elements n)
{
	return is_unasked(task) ? NULL : plain.createArray(task, n);
}

static void *integer(const redisReadTask *task, long long value)
{
	return is_unasked(task) ? NULL : plain.createInteger(task, value);
}

static void *nil(const redisReadTask *task)
{
	return is_unasked(task) ? NULL : plain.createNil(task);
}

#if HIREDIS_MAJOR >= 1
static void *number(const redisReadTask *task, double value, char *bytes, size_t n)
{
	return is_unasked(task) ? NULL : plain.createDouble(task, value, bytes, n);
}

static void *boolean(const redisReadTask *task, int value)
{
	return is_unasked(task) ? NULL : plain.createBool(task, value);
}
#endif

void guard_replies(struct redisAsyncContext *context)
{
	redisReader *reader = context->c.reader;

	if (!plain.createString) {
		plain = guarded = *reader->fn;
		guarded.createString = string;
		guarded.createArray = array;
		guarded.createInteger = integer;
		guarded.createNil = nil;
#if HIREDIS_MAJOR >= 1
		guarded.createDouble = number;
		guarded.createBool = boolean;
#endif
	}
	reader->fn = &guarded;
	reader->privdata = context;
}
