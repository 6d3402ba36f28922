package compat_test

import (
	"os/exec"
	"testing"
)

const byMethodOfPerl = "`$redis->${\\'LOCK.TOKEN'}($key)`"

var perl = &toolchain{
	name:    "perl",
	prepare: preparePerl,
	libraries: []library{
		{Name: "Redis.pm", Language: "Perl", Port: "shared", Token: byMethodOfPerl,
			Quirks: "it never falls back from EVALSHA: it dies with NOSCRIPT in the message"},
		{Name: "Redis::DistLock", Language: "Perl", Spoken: true, Masters: true, Port: seatsForSeveral, Token: byMethodOfPerl,
			Quirks: "its extension takes the lock from whoever has it, so that the expiry case doesn't ask the former holder; votes of a failed try stay until they run out"},
	},
	snippets: []snippet{
		{Title: "The module Redis", File: "snippet/redis.pl", run: perlRun},
	},
}

func preparePerl(*testing.T) (runner, error) {
	if err := installListed("perl"); err != nil {
		return nil, err
	}
	return func(args ...string) *exec.Cmd {
		return exec.Command("perl", append([]string{"perl/main.pl"}, args...)...)
	}, nil
}

func perlRun(_ runner, file string) *exec.Cmd { return exec.Command("perl", file) }
