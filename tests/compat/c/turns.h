#ifndef TURNS_H
#define TURNS_H

#include "locker.h"

enum { TAKERS = 16 };

/* What was seen of those who took turns. */
struct turns {
	int taken, clashes, unreleased;
};

/* Lets TAKERS threads take turns on one lock, each with connections of its own. */
struct turns take_turns(const struct library *, const char *addresses, const char *name, long long millis);

#endif
