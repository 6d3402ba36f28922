package compat_test

import (
	"os/exec"
	"testing"
)

const byCallOfRuby = "`redis.call(\"LOCK.TOKEN\", key)`"

var ruby = &toolchain{
	name:    "ruby",
	prepare: prepareRuby,
	libraries: []library{
		{Name: "ruby-redis", Language: "Ruby", Port: "shared", Token: byCallOfRuby,
			Quirks: "it never falls back from EVALSHA: rescue `Redis::CommandError` that begins with NOSCRIPT and send EVAL"},
		{Name: "redlock-rb", Language: "Ruby", Spoken: true, Masters: true, Port: seatsForSeveral, Token: byCallOfRuby,
			Quirks: "gives a server 0.1 s to answer: set `redis_timeout` higher; its release looks at no answer"},
	},
	snippets: []snippet{
		{Title: "The gem redis", File: "snippet/redis.rb", run: rubyRun},
	},
}

func prepareRuby(*testing.T) (runner, error) {
	if err := installListed("ruby"); err != nil {
		return nil, err
	}
	return func(args ...string) *exec.Cmd {
		return exec.Command("ruby", append([]string{"ruby/main.rb"}, args...)...)
	}, nil
}

func rubyRun(_ runner, file string) *exec.Cmd { return exec.Command("ruby", file) }
