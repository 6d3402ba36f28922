package redlockcompat

import (
	"regexp"
	"strings"
	"testing"
)

func TestPortName(t *testing.T) {
	for space, want := range map[uint8]string{0: "shared", 1: "seat 1", 15: "seat 15"} {
		if got := PortName(space); got != want {
			t.Errorf("space %d is called %q, want %q", space, got, want)
		}
	}
}

// Redis::DistLock and others take a version only as three numbers, and want at
// least 2.6.12; from 8.4 on some drivers send commands that scripts do better here.
func TestRedisVersionIsReadable(t *testing.T) {
	if !regexp.MustCompile(`^7\.[0-9]+\.[0-9]+$`).MatchString(RedisVersion) {
		t.Errorf("version %q", RedisVersion)
	}
}

// rueidis looks for the word, in any case, to go on without slots.
func TestClusterDisabledIsRecognised(t *testing.T) {
	if !strings.Contains(strings.ToUpper(ClusterDisabled), "CLUSTER") || !strings.HasPrefix(ClusterDisabled, "ERR ") {
		t.Errorf("text %q", ClusterDisabled)
	}
}
