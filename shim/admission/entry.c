/* SPDX-License-Identifier: MIT */
/* From a listening socket to its section, and from there to its state in the region. */
#include "admission/entry.h"

#include "config/listen.h"
#include "sys/real.h"
#include "dest/address.h"
#include "report/refresh.h"
#include "report/record.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>

#define LISTENING 10 /* TCP_LISTEN of netinet/tcp.h, which cannot be had with linux/tcp.h */

struct socket_name {
	struct sockaddr_storage address;
	socklen_t len;
};

static bool name_of(int listener, struct socket_name *name)
{
	int saved = errno;
	bool known;

	name->len = sizeof(name->address);
	known = getsockname(listener, (struct sockaddr *)&name->address, &name->len) == 0 &&
	        name->len <= sizeof(name->address);
	errno = saved;
	return known;
}

/* How many are in its queue still; 0 also where nobody can tell (a unix socket). */
static int64_t waiting_at(int listener)
{
	struct tcp_info info = { .tcpi_state = 0 };
	socklen_t len = sizeof(info);
	int saved = errno;
	bool known = real.getsockopt(listener, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	             info.tcpi_state == LISTENING;

	errno = saved;
	return known ? info.tcpi_unacked : 0;
}

/* Sections are known by their label, which a reload that adds others does not change. */
static struct admission *admission_of(const struct config *config, int section)
{
	const char *label = config->admission_labels[section];
	int64_t key = (int64_t)hash_bytes(ADDRESS_HASH, label, strnlen(label, CONFIG_LABEL));
	struct admission *admission =
	    admission_find(shim_region->admissions, REGION_ADMISSIONS, key ? key : 1);

	if (!admission)
		count(&shim_region->faults);
	return admission;
}

void entrance_refresh(void)
{
	int saved = errno;

	refresh(monotonic());
	errno = saved;
}

void entrance_tell(const struct entrance *entrance, int listener)
{
	const struct admission_rule *rule = &entrance->config->admissions[entrance->section];
	struct socket_name name;
	struct record record = {
		.event = EVENT_REJECTED,
		.admission = entrance->admission,
		.policy = entrance->config->admission_labels[entrance->section],
		.observe = !entrance->rule,
		.tokens = admission_tokens(entrance->admission, rule),
		.capacity = rule->burst,
		.queue = entrance->queue,
	};
	int saved = errno;

	if (name_of(listener, &name)) {
		record.listen = (const struct sockaddr *)&name.address;
		record.listen_len = name.len;
	}
	announce(entrance->now);
	report(&record, entrance->now);
	errno = saved;
}

void entrance_judge(struct entrance *entrance, int listener)
{
	const struct config *config = config_current();
	const struct admission_rule *rule;
	struct socket_name name;

	entrance->rule = NULL;
	entrance->config = config;
	entrance->section = name_of(listener, &name)
	                        ? listener_find(config, (struct sockaddr *)&name.address, name.len)
	                        : -1;
	if (entrance->section < 0)
		return;
	rule = &config->admissions[entrance->section];
	if (rule->mode == MODE_OFF)
		return;
	entrance->now = monotonic();
	entrance->admission = admission_of(config, entrance->section);
	/* Where nobody is rejected the queue is what it would not be otherwise. */
	entrance->queue = rule->mode == MODE_ENFORCE ? waiting_at(listener) : 0;
	if (!entrance->admission ||
	    admission_take(entrance->admission, rule, entrance->queue, entrance->now))
		return;
	if (rule->mode == MODE_ENFORCE)
		entrance->rule = rule;
	else
		entrance_tell(entrance, listener);
}
