/* Drives what locks over hiredis, as its users would, against servers that are named on
 * the command line. ../README.md says what it prints and what each case asks. */
#include "cases.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct library *const libraries[] = {&plain, &redlock_cpp};

int main(int argc, char **argv)
{
	/* A write to a server that has gone must end in an error, not in a signal. */
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; argc == 4 && i < sizeof libraries / sizeof *libraries; i++) {
		if (strcmp(argv[1], libraries[i]->name) != 0)
			continue;
		printf("version %s\n", libraries[i]->version);
		return run_cases(libraries[i], argv[2], argv[3]) ? 0 : 1;
	}
	fputs("usage: compat LIBRARY ADDRESS[,ADDRESS...] PREFIX\n", stderr);
	return 2;
}
