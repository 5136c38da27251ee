/* SPDX-License-Identifier: MIT */
/* The subcommands of `retrybudget`, most of them in the file of their name. Each gets argv from its
 * own name on and returns the exit code. */
#ifndef RETRYBUDGET_TOOL_TOOL_H
#define RETRYBUDGET_TOOL_TOOL_H

#define EXIT_USAGE 2 /* of check, show and retrybudget itself; run has those of env(1) */

int cmd_run(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_rules(int argc, char **argv);
int cmd_calc(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_logs(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_advise(int argc, char **argv);
int cmd_share(int argc, char **argv);
int cmd_fleet(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_reload(int argc, char **argv);

#endif
