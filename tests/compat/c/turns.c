#include "turns.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WITHIN_MS = 60000, TURN_MS = 5 };

/* What the lock protects. It counts who is in. */
struct resource {
	const struct library *library;
	const char *addresses, *name;
	long long millis;
	atomic_int inside, taken, clashes, unreleased;
};

static void *take_turn(void *arg)
{
	struct resource *r = arg;
	struct locker l;
	locker_open(&l, r->library, r->addresses, r->name, r->millis);
	if (locker_wait(&l, now_ms() + WITHIN_MS)) {
		if (atomic_fetch_add(&r->inside, 1) != 0)
			atomic_fetch_add(&r->clashes, 1);
		pause_about(TURN_MS); /* so that the others find it held */
		atomic_fetch_sub(&r->inside, 1);
		atomic_fetch_add(&r->taken, 1);
		if (!l.library->unlock(&l))
			atomic_fetch_add(&r->unreleased, 1);
	}
	locker_close(&l);
	return NULL;
}

struct turns take_turns(const struct library *library, const char *addresses, const char *name, long long millis)
{
	struct resource r = {.library = library, .addresses = addresses, .name = name, .millis = millis};
	pthread_t takers[TAKERS];
	int started = 0;
	while (started < TAKERS && pthread_create(&takers[started], NULL, take_turn, &r) == 0)
		started++;
	for (int i = 0; i < started; i++)
		pthread_join(takers[i], NULL);
	return (struct turns){atomic_load(&r.taken), atomic_load(&r.clashes), atomic_load(&r.unreleased)};
}
