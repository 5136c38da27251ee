/* SPDX-License-Identifier: MIT */
/* Of which unit a process is, by the cgroups of as many kinds of host. */
#include "dest/own_unit.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define UID "2c48913c-b29f-11e7-9350-020968147796"
#define POD "2c48913c_b29f_11e7_9350_020968147796"

/* In text # stands for 64 digits. */
static char *written(const char *text)
{
	static const char half[] = "9bca8d63d5fa610783847915bcff0ece";
	char *out = calloc(1, strlen(text) * 64 + 1), *at = out;

	for (; *text; text++)
		if (*text == '#')
			at += strlen(strcat(strcpy(at, half), half));
		else
			*at++ = *text;
	return out;
}

static void expect(const char *short_text, const char *short_wanted)
{
	char *text = written(short_text), *wanted = written(short_wanted ? short_wanted : "");
	const char *found = own_unit(text);

	cr_expect_str_eq(found ? found : "", wanted, "%s: %s, not %s", short_text, found, wanted);
	free(text);
	free(wanted);
}

Test(own_unit, is_a_service_of_systemd)
{
	expect("0::/system.slice/foo.service\n", "/system.slice/foo.service");
	expect("0::/system.slice/system-foo.slice/foo@1.service\n",
	       "/system.slice/system-foo.slice/foo@1.service");
	expect("0::/system.slice/a:b.service\n", "/system.slice/a:b.service");
	expect("0::/system.slice/foo.service/supervisor\n", "/system.slice/foo.service");
	expect("0::/system.slice/foo.service/a/b\n", "/system.slice/foo.service");
	expect("0::/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service\n",
	       "/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service");
}

Test(own_unit, is_a_scope_that_was_started_by_itself)
{
	expect("0::/system.slice/run-r0a1b.scope\n", "/system.slice/run-r0a1b.scope");
	expect("0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-u42.scope\n",
	       "/user.slice/user-1000.slice/user@1000.service/app.slice/run-u42.scope");
}

Test(own_unit, is_none_of_what_a_person_starts)
{
	expect("0::/user.slice/user-1000.slice/session-3.scope\n", NULL);
	expect("0::/user.slice/user-1000.slice/session-c1.scope\n", NULL);
	expect("0::/user.slice/user-1000.slice/user@1000.service/init.scope\n", NULL);
	expect("0::/user.slice/user-1000.slice/user@1000.service\n", NULL);
	expect("0::/user.slice/user-1000.slice/user@1000.service/app.slice\n", NULL);
	expect("0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
	       "app-org.gnome.Terminal.slice/vte-spawn-3d5b2c1a.scope\n",
	       NULL);
	expect("0::/user.slice/user-1000.slice/user@1000.service/app.slice/"
	       "app-marktext-52feaf77faa24c5c80878368e88bf7ff.scope\n",
	       NULL);
	expect("0::/user.slice/user-1000.slice/user@1000.service/tmux-spawn-3d5b2c1a.scope\n",
	       NULL);
}

Test(own_unit, is_none_of_a_whole_system)
{
	expect("0::/\n", NULL);
	expect("0::/init.scope\n", NULL);
	expect("0::/system.slice\n", NULL);
	expect("0::/../..\n", NULL);
	expect("0::/lxc/web\n", NULL);
	expect("0::/lxc.payload.web\n", NULL);
	expect("0::/docker/#/init.scope\n", NULL); /* with a systemd in it */
	expect("0::/default/web\n", NULL);
}

Test(own_unit, is_a_container)
{
	expect("0::/system.slice/docker-#.scope\n", "/system.slice/docker-#.scope");
	expect("0::/docker/#\n", "/docker/#");
	expect("0::/docker/#/docker/#\n", "/docker/#/docker/#");
	expect("0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-#.scope/"
	       "container\n",
	       "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-#.scope");
	expect("0::/machine.slice/libpod-#.scope/container\n", "/machine.slice/libpod-#.scope");
	expect("0::/machine.slice/machine-libpod_pod_#.slice/libpod-#.scope\n",
	       "/machine.slice/machine-libpod_pod_#.slice/libpod-#.scope");
	expect("0::/libpod_parent/libpod-#\n", "/libpod_parent/libpod-#");
	expect("0::/ecs/" UID "/#\n", "/ecs/" UID "/#");
	expect("0::/ecs/34dc0b5e626f2c5c4c5170e34b10e765-1234567890\n",
	       "/ecs/34dc0b5e626f2c5c4c5170e34b10e765-1234567890");
	expect("0::/machine.slice/systemd-nspawn@web.service/payload\n",
	       "/machine.slice/systemd-nspawn@web.service");
}

Test(own_unit, within_a_container_is_the_service_there)
{
	expect("0::/machine.slice/libpod-#.scope/system.slice/foo.service\n",
	       "/machine.slice/libpod-#.scope/system.slice/foo.service");
	expect("0::/lxc.payload.web/system.slice/foo.service\n",
	       "/lxc.payload.web/system.slice/foo.service");
	expect("0::/kubepods/pod" UID "/#/system.slice/foo.service\n",
	       "/kubepods/pod" UID "/#/system.slice/foo.service");
	expect("0::/machine.slice/libpod-#.scope/system.slice\n", NULL);
}

Test(own_unit, of_a_container_that_is_made_anew_is_its_pod)
{
	static const char of_systemd[] =
	    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD ".slice";

	expect("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD
	       ".slice/cri-containerd-#.scope\n",
	       of_systemd);
	expect("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD
	       ".slice/crio-#.scope/container\n",
	       of_systemd);
	expect("0::/kubepods/besteffort/pod" UID "/#\n", "/kubepods/besteffort/pod" UID);
	expect("0::/kubepods/besteffort/pod" UID "/crio-#.scope\n", "/kubepods/besteffort/pod" UID);
	expect("0::/kubepods/pod34dc0b5e626f2c5c4c5170e34b10e765/#\n",
	       "/kubepods/pod34dc0b5e626f2c5c4c5170e34b10e765");
	expect("0::/../../pod" UID "/#\n", "/../../pod" UID);
	expect("0::/system.slice/containerd.service/kubepods-burstable-pod" POD
	       ".slice:cri-containerd:#\n",
	       "/system.slice/containerd.service/kubepods-burstable-pod" POD ".slice");
	expect("0::/kubepods.slice/kubepods-burstable.slice\n", NULL);
}

Test(own_unit, of_the_first_version_is_told_by_any_line)
{
	expect("12:pids:/user.slice/user-1000.slice\n"
	       "5:cpu,cpuacct:/\n"
	       "1:name=systemd:/system.slice/foo.service\n",
	       "/system.slice/foo.service");
	expect("12:pids:/user.slice\n1:name=systemd:/user.slice/user-1000.slice/session-3.scope\n",
	       NULL);
	expect("9:cpuset:/docker/#\n8:memory:/docker/#\n1:name=openrc:/docker\n", "/docker/#");
	expect("10::/system.slice/foo.service\n", "/system.slice/foo.service");
}

Test(own_unit, of_both_versions_is_what_systemd_or_the_container_says)
{
	expect("2:hugetlb:/kubepods/besteffort/pod" UID "/#\n"
	       "1:name=systemd:/kubepods/besteffort/pod" UID "/#\n"
	       "0::/system.slice/dockerd.service\n",
	       "/kubepods/besteffort/pod" UID);
	expect("3:memory:/system.slice/foo.service/a\n"
	       "1:name=systemd:/system.slice/foo.service\n"
	       "0::/system.slice/foo.service\n",
	       "/system.slice/foo.service");
	expect("3:memory:/docker/#\n1:name=systemd:/\n0::/\n", "/docker/#");
	expect("2:memory:/docker/#\n0::/system.slice/foo.service\n", "/system.slice/foo.service");
}

/* What is cut might name another unit than it did. */
Test(own_unit, survives_a_text_that_is_cut)
{
	static const char whole[] = "2:cpu:/\n1:name=systemd:/system.slice/a.service/b.service\n"
				    "0::/system.slice/a.service/b.service\n";
	size_t first = (size_t)(strstr(whole, "0::") - whole);

	for (size_t n = 0; n < sizeof(whole); n++) {
		char *text = strndup(whole, n); /* for whoever looks for reads beyond it */
		const char *found = own_unit(text);

		cr_expect_eq(found != NULL, n >= first, "%zu bytes: %s", n, found);
		if (found)
			cr_expect_str_eq(found, "/system.slice/a.service/b.service");
		free(text);
	}
}

Test(own_unit, survives_what_no_kernel_writes)
{
	static const char *const parts[] = {
		"/",          ":",
		"::",         "\n",
		"0::",        "1:name=systemd:",
		"pod",        "kubepods",
		"-pod",       "a",
		".slice",     ".service",
		".scope",     "user@",
		"session-",   ".",
		"\xff",       "..",
		"init.scope", "9bca8d63d5fa610783847915bcff0ece",
	};
	enum { PARTS = sizeof(parts) / sizeof(*parts) };

	for (const char *const *bad =
	         (const char *const[]) { "", "\n", "\n\n", ":\n", "::\n", "0::\n", "0:\n", "/\n",
	                                 "0::foo.service\n", "0::/\n0::/\n",
	                                 "\n1:name=systemd:/\nz/a.service", NULL };
	     *bad; bad++)
		expect(*bad, NULL);
	srandom(1);
	for (int round = 0; round < 100000; round++) {
		char made[1024] = "", *text;
		const char *found;

		for (long i = random() % 20; i >= 0; i--)
			strcat(made, parts[random() % PARTS]);
		text = strdup(made);
		found = own_unit(text);
		cr_expect(!found || (found > text && found < text + strlen(made) && *found == '/'),
		          "%s: %s", made, found);
		free(text);
	}
}
