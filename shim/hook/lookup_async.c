/* SPDX-License-Identifier: MIT */
/*
 * Lookups that libc makes on threads of its own. No hook sees those threads at work, so a request
 * is judged when it is handed in, and its outcome is seen when the program asks for it.
 *
 * GAI_WAIT blocks: retries in the list are held as in getaddrinfo, all together no longer than
 * `hold`. GAI_NOWAIT must not block, so a retry that is not due, or cannot be paid for, fails at
 * once: its request holds the last real code as if it had been quick, and libc is handed the list
 * without it, for which it has a rule (NULL is skipped) and still sends the notification that the
 * program waits for. Letting it go instead would not limit anything, and there is no way to have
 * libc end a request later. A program that begins anew from each notification then spins where it
 * spun before, without a packet; `nonblocking = pass` lets such a retry go.
 */
#include "conn/pending_lookups.h"
#include "conn/settle.h"
#include "dest/names.h"
#include "hook/hook.h"
#include "pace/pace.h"
#include "region/state.h"
#include "sys/fault.h"
#include "sys/lookup_mark.h"
#include "sys/process.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef __GLIBC__

/* A longer list passes unjudged: the copy without the refused lies on the program's stack. */
#define LIST 32

/* Addresses of one answer that are bound to its name. */
#define ANSWERS 16

/* A list that is being handed in. */
struct handing {
	int mode;
	int64_t until; /* GAI_WAIT: when all holds have to be over; 0 = none has begun */
};

/* Decides on one request. False: refused, and its code says so. */
static bool hand_in(struct gaicb *block, struct handing *handing)
{
	struct request request = { .kind = AF_UNSPEC };
	struct attempt try;

	if (!attempt_begin_lookup(&try, block->ar_name, block->ar_request))
		return true;
	try.no_wait = handing->mode == GAI_NOWAIT;
	if (handing->until == 0)
		handing->until = try.began + try.account.policy->hold;
	else if (handing->until > try.began)
		try.bound = handing->until - try.began;
	else
		try.no_wait = true;
	if (!pace(&try)) {
		block->__return = attempt_refused_lookup(&try);
		return false;
	}
	request.trial = try.trial;
	request.kind = try.kind;
	request.paid = try.paid;
	request.permit = try.permit;
	request.began = try.began;
	request.admitted = try.admitted;
	request.name = names_note(block->ar_name);
	pending_lookup_enter(block, &request);
	return true;
}

/* Binds the name to an answer that the program has had in its hands, and may have freed: the memory
 * is not touched but asked for. */
static void learn(uint64_t name, const struct addrinfo *answer)
{
	struct sockaddr_storage address;
	struct addrinfo one;
	pid_t self = process_id();
	int64_t now = monotonic();

	for (int i = 0; answer && i < ANSWERS; i++, answer = one.ai_next) {
		struct iovec to = { &one, sizeof(one) };
		struct iovec from = { (void *)answer, sizeof(one) };

		if (process_vm_readv(self, &to, 1, &from, 1, 0) != (ssize_t)sizeof(one)) {
			if (errno != EFAULT)
				fault_count();
			return;
		}
		if (one.ai_addrlen > sizeof(address))
			return;
		to = (struct iovec) { &address, one.ai_addrlen };
		from = (struct iovec) { one.ai_addr, one.ai_addrlen };
		if (process_vm_readv(self, &to, 1, &from, 1, 0) != (ssize_t)one.ai_addrlen)
			return;
		names_bind(name, (const struct sockaddr *)&address, one.ai_addrlen, now);
	}
}

/* Counts the outcome of a request that is over, once. */
static void settle(struct gaicb *block, int code)
{
	int saved = errno;
	struct request request;
	struct attempt try;

	if (!pending_lookup_take(block, &request))
		return;
	try = (struct attempt) {
		.fd = -1,
		.saved_errno = saved,
		.began = request.began,
		.admitted = request.admitted,
		.paid = request.paid,
		.permit = request.permit,
		.kind = request.kind,
		.trial = request.trial,
	};
	if (attempt_open_account(&try))
		attempt_settle_lookup(&try, code);
	if (code == 0 && request.name)
		learn(request.name, block->ar_result);
	errno = saved;
}

int gai_error(struct gaicb *block)
{
	int code = real.gai_error(block);

	if (code != EAI_INPROGRESS && shim_ready())
		settle(block, code);
	return code;
}

int getaddrinfo_a(int mode, struct gaicb *list[], int n, struct sigevent *event)
{
	struct gaicb *kept[LIST];
	struct handing handing = { .mode = mode };
	int result;

	thread_drop_stale_lookup();
	if (!shim_ready() || n <= 0 || n > LIST || (mode != GAI_WAIT && mode != GAI_NOWAIT))
		return real.getaddrinfo_a(mode, list, n, event);
	for (int i = 0; i < n; i++)
		kept[i] = list[i] && hand_in(list[i], &handing) ? list[i] : NULL;
	result = real.getaddrinfo_a(mode, kept, n, event);
	for (int i = 0; mode == GAI_WAIT && i < n; i++) {
		int code = kept[i] ? real.gai_error(kept[i]) : EAI_INPROGRESS;

		if (code != EAI_INPROGRESS)
			settle(kept[i], code);
	}
	return result;
}

#endif
