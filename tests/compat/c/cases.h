#ifndef CASES_H
#define CASES_H

#include "locker.h"

/* Runs all cases of a library, prints a line each, and says whether none failed.
 * ../README.md says what each asks. */
bool run_cases(const struct library *, const char *addresses, const char *prefix);

#endif
