package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// TestReadmeQuickStart: what the README shows is what a new node answers.
func TestReadmeQuickStart(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	n, p := startTestNode(t)
	defer n.end(false)
	client := dial(operator{addr: p.of(0)[0]})
	defer client.Close()
	lines := 0
	for line := range strings.Lines(string(data)) {
		shown, want, ok := strings.Cut(strings.TrimSpace(line), "#")
		command, ok2 := strings.CutPrefix(shown, "redis-cli ")
		if !ok || !ok2 || strings.HasPrefix(command, "-p") {
			continue
		}
		lines++
		if got := shownByCLI(client, strings.Fields(command)); got != strings.TrimSpace(want) {
			t.Errorf("redis-cli %s: got %s, the README says %s", command, got, want)
		}
	}
	if lines < 3 {
		t.Errorf("the README shows %d commands", lines)
	}
}

// shownByCLI spells an answer as redis-cli does on a terminal.
func shownByCLI(client *redis.Client, words []string) string {
	args := make([]any, len(words))
	for i, w := range words {
		args[i] = w
	}
	v, err := client.Do(context.Background(), args...).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return "(nil)"
	case err != nil:
		return "(error) " + err.Error()
	}
	if n, ok := v.(int64); ok {
		return fmt.Sprintf("(integer) %d", n)
	}
	return fmt.Sprint(v)
}

// startTestNode starts a node of its own cluster on free ports, ready to serve.
func startTestNode(t *testing.T) (*node, *ports) {
	t.Helper()
	c := defaultConfig()
	c.DataDir = t.TempDir()
	c.Listen, c.Seats, c.HTTPListen = addrList{"127.0.0.1:0"}, addrList{"127.0.0.1:0"}, nil
	c.RaftListen = "127.0.0.1:0"
	p, err := openPorts(&c)
	if err != nil {
		t.Fatal(err)
	}
	n, err := startNode(context.Background(), &c, p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	n.serve(p)
	retry(func() (string, bool) { return "", n.replica.Ready() == nil })
	return n, p
}
