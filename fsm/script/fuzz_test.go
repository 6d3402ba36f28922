package script

import (
	"math/rand"
	"reflect"
	"testing"

	"github.com/redfence/redfence/fsm/reply"
)

// FuzzScript: no text makes the engine panic or go over its limits, and an engine
// that has run anything else answers as a new one.
func FuzzScript(f *testing.F) {
	for _, s := range corpus {
		f.Add(s)
	}
	for _, h := range hostile {
		f.Add(h.text)
	}
	for _, s := range hostileTexts() {
		if len(s) < 4096 {
			f.Add(s)
		}
	}
	for i := int64(0); i < 50; i++ {
		f.Add(program(rand.New(rand.NewSource(i))))
	}
	lim := DefaultLimits()
	lim.Instructions, lim.Memory = 20_000, 1<<20
	used := New()
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Compile(text, lim)
		if err != nil {
			if _, ok := err.(*Error); !ok || err.Error() == compilerFault {
				t.Fatalf("%v", err)
			}
			return
		}
		call := Call{Program: p, Keys: []string{"k", "none"}, Args: []string{"v", "10"}, Seed: 3}
		newRun := func(e *Engine) (Result, *mapHost) {
			h := newHost()
			h.data["k"], h.data["s"] = "v", "abc"
			return e.Run(call, h, lim), h
		}
		want, wantHost := newRun(New())
		got, gotHost := newRun(used)
		if !sameResult(got, want) || !reflect.DeepEqual(gotHost.data, wantHost.data) || !reflect.DeepEqual(gotHost.log, wantHost.log) {
			t.Fatalf("used engine: %+v\nnew engine: %+v", got, want)
		}
		if want.Instructions > lim.Instructions || want.Memory > lim.Memory || want.Value.Str == engineFault {
			t.Fatalf("%+v", want)
		}
	})
}

// sameResult is equality where a NaN equals itself.
func sameResult(a, b Result) bool {
	ea, eb := reply.Append(nil, a.Value), reply.Append(nil, b.Value)
	a.Value, b.Value = reply.Value{}, reply.Value{}
	return string(ea) == string(eb) && reflect.DeepEqual(a, b)
}
