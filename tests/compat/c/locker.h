#ifndef LOCKER_H
#define LOCKER_H

#include <stdbool.h>
#include <stddef.h>

enum { MAX_MASTERS = 8, VALUE_SIZE = 41 };

struct redisContext;

/* A holder-to-be of a lock, with connections of its own. Not for two threads at once. */
struct locker {
	const struct library *library;
	struct redisContext *masters[MAX_MASTERS]; /* NULL for one that can't be reached */
	size_t count;
	const char *name;
	long long millis;
	char value[VALUE_SIZE];
};

/* A lock library on hiredis. Each function says whether it is so; tells_release is
 * false where unlock tells nothing. */
struct library {
	const char *name;
	const char *version;
	bool tells_release;
	bool (*try_lock)(struct locker *);
	bool (*extend)(struct locker *);
	bool (*unlock)(struct locker *);
};

extern const struct library plain, redlock_cpp;

/* Connects a holder-to-be to servers, host:port with commas. */
void locker_open(struct locker *, const struct library *, const char *addresses, const char *name, long long millis);
void locker_close(struct locker *);

/* Takes the lock, polling as users of hiredis do. False once until_ms has come. */
bool locker_wait(struct locker *, long long until_ms);

/* Milliseconds on the monotonic clock. */
long long now_ms(void);

/* Writes 40 hexadecimal digits that nobody else has. */
void random_value(char value[VALUE_SIZE]);

/* Sleeps for at least min_ms and at most twice that. */
void pause_about(int min_ms);

#endif
