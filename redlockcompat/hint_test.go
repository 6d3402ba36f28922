package redlockcompat

import (
	"strings"
	"testing"
)

func TestHint(t *testing.T) {
	nodes := []Node{
		{Name: "n1", Seats: []string{"a:6381", "a:6382", "a:6383"}},
		{Name: "n2", Seats: []string{"b:6381", "b:6382", "b:6383"}},
		{Name: "n3", Seats: []string{"c:6381", "c:6382", "c:6383"}},
	}
	text := Hint("worker redsync", nodes)
	for _, want := range []string{`"worker redsync"`, "a:6381, b:6382, c:6383"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if text := Hint("x", []Node{{Name: "n1"}}); !strings.Contains(text, "--seats") {
		t.Errorf("without seat ports the hint is %q", text)
	}
}
