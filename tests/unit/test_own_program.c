/* SPDX-License-Identifier: MIT */
/* What an interpreter runs, past all its options. */
#include "dest/own_program.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* words: between blanks, as in /proc/PID/cmdline between NULs; '_' stands for a blank in a word. */
static void expect(const char *file, const char *words, const char *wanted)
{
	char args[512];
	size_t n = strlen(words) + 1;
	const char *found;

	memcpy(args, words, n);
	for (size_t i = 0; i < n; i++)
		args[i] = args[i] == ' ' ? '\0' : args[i] == '_' ? ' ' : args[i];
	found = own_program_script(file, args, n);
	if (!wanted)
		cr_expect_eq(found, NULL, "%s: %s", words, found);
	else
		cr_expect(found && strcmp(found, wanted) == 0, "%s: %s, not %s", words,
		          found ? found : "none", wanted);
}

Test(own_program, of_a_program_is_its_file)
{
	expect("/usr/bin/curl", "curl -s http://a/", NULL);
	expect("/usr/bin/shred", "shred file", NULL);
	expect("/usr/bin/javac", "javac A.java", NULL);
	expect("/usr/bin/pythonic", "pythonic x", NULL);
}

Test(own_program, of_an_interpreter_is_its_script)
{
	expect("/usr/bin/python3.11", "python3 x.py -c y", "x.py");
	expect("/usr/bin/python3.11", "python3 -u x.py", "x.py");
	expect("/usr/bin/python3.11", "python3 -W ignore -X dev -uBS x.py a", "x.py");
	expect("/usr/bin/python3.11", "python3 -Wignore -Xdev x.py", "x.py");
	expect("/usr/bin/python3.11", "python3 -um http.server 80", "http.server");
	expect("/usr/bin/python3.11", "python3 -mhttp.server", "http.server");
	expect("/usr/bin/python3.11", "python3 -uc import_this x", "import this");
	expect("/usr/bin/python3.11", "python3 --check-hash-based-pycs always x.py", "x.py");
	expect("/usr/bin/python3.11", "python3 -", "-");
	expect("/usr/bin/perl", "perl -w x.pl", "x.pl");
	expect("/usr/bin/perl", "perl -I lib -MFile::Temp -wT x.pl", "x.pl");
	expect("/usr/bin/perl", "perl -lne print_1 file", "print 1");
	expect("/usr/bin/perl", "perl -we die", "die");
	expect("/usr/bin/perl", "perl -Ilib -- -x.pl", "-x.pl");
	expect("/usr/bin/ruby3.1", "ruby -W0 -r json -I lib x.rb", "x.rb");
	expect("/usr/bin/php8.2", "php -q -d memory_limit=1G -c /etc/php.ini x.php", "x.php");
	expect("/usr/bin/php8.2", "php -d a=1 -f x.php -- -a", "x.php");
	expect("/usr/bin/php-cgi8.2", "php-cgi -q -f page.php", "page.php");
	expect("/usr/bin/node", "node --max-old-space-size=1 -r ./env x.js", "x.js");
	expect("/usr/bin/node", "node --require ./env --import=./i x.js", "x.js");
	expect("/usr/bin/nodejs", "node -e f()", "f()");
	expect("/usr/bin/node", "node -pe f()", "f()");
	expect("/usr/bin/lua5.4", "lua -l socket -e x=1 x.lua", "x.lua");
	expect("/usr/bin/tclsh8.6", "tclsh -encoding utf-8 x.tcl", "x.tcl");
}

Test(own_program, of_a_shell_is_its_script_or_the_text_of_c)
{
	expect("/usr/bin/bash", "bash -e x", "x");
	expect("/usr/bin/bash", "bash -euo pipefail x a", "x");
	expect("/usr/bin/bash", "bash -c -e exit_1 a", "exit 1");
	expect("/usr/bin/bash", "bash --norc --rcfile f +x -O extglob x", "x");
	expect("/usr/bin/dash", "sh -ec exit_1", "exit 1");
	expect("/usr/bin/bash", "-bash", NULL);
	expect("/usr/bin/bash", "bash -l", NULL);
	expect("/usr/bin/bash", "bash -o", NULL);
}

Test(own_program, of_java_is_its_class_or_archive)
{
	expect("/usr/lib/jvm/java/bin/java", "java -jar a.jar b", "a.jar");
	expect("/usr/lib/jvm/java/bin/java", "java -Xmx1g -cp a:b -Dx=y -ea org.Main c",
	       "org.Main");
	expect("/usr/lib/jvm/java/bin/java", "java --module-path m -m mod/org.Main",
	       "mod/org.Main");
	expect("/usr/lib/jvm/java/bin/java", "java --add-opens java.base/x=ALL org.Main",
	       "org.Main");
}

Test(own_program, of_many_in_one_file_is_the_one)
{
	expect("/bin/busybox", "wget -q http://a/", "wget");
	expect("/bin/busybox", "busybox wget -q http://a/", "wget");
	expect("/bin/busybox", "/bin/sh -e x", "x");
	expect("/bin/busybox", "busybox ash -c exit_1", "exit 1");
	expect("/bin/busybox", "busybox", NULL);
	expect("/bin/busybox", "-sh", "-sh");
}

/* A process writes there what it likes, and we read what there is room for. */
Test(own_program, survives_arguments_that_are_cut)
{
	static const char args[] = "python3\0-W\0ignore\0-c\0import this";

	for (size_t n = 0; n <= sizeof(args); n++) {
		char *exact = malloc(n ? n : 1); /* for whoever looks for reads beyond it */
		const char *script;

		memcpy(exact, args, n > sizeof(args) ? sizeof(args) : n);
		script = own_program_script("/usr/bin/python3", exact, n);
		cr_expect_eq(script != NULL, n >= sizeof(args), "%zu bytes: %s", n, script);
		free(exact);
	}
	for (int c = 1; c < 256; c++) {
		char word[] = { 's', 'h', '\0', '-', (char)c, '\0' };

		own_program_script("/bin/sh", word, sizeof(word));
		own_program_script("/usr/bin/perl", word, sizeof(word));
	}
}
