package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// parse settles a configuration as serve does, from arguments, variables and a file's text.
func parse(t *testing.T, args []string, env map[string]string, file string) (config, *pflag.FlagSet, error) {
	t.Helper()
	c := defaultConfig()
	fs := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c.bind(fs)
	if err := fs.Parse(args); err != nil {
		return c, fs, err
	}
	name := ""
	if file != "" {
		name = filepath.Join(t.TempDir(), "redfence.yaml")
		if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lookup := func(key string) (string, bool) { v, ok := env[key]; return v, ok }
	if err := settle(fs, name, lookup); err != nil {
		return c, fs, err
	}
	c.nodeIDGiven = fs.Changed("node-id")
	return c, fs, c.validate()
}

// TestDefaultsServe: no flags at all is a cluster of one node.
func TestDefaultsServe(t *testing.T) {
	if _, _, err := parse(t, nil, nil, ""); err != nil {
		t.Fatal(err)
	}
}

// TestLayers: a flag goes over the environment, that over the file, that over the default.
func TestLayers(t *testing.T) {
	file := "node-id: from-file\nmaxclients: 7\nlisten: [127.0.0.1:1, '[::1]:1']\n"
	env := map[string]string{"REDFENCE_NODE_ID": "from-env", "REDFENCE_SNAPSHOT_BYTES": "2mb", "REDFENCE_UNRELATED": "x"}
	c, _, err := parse(t, []string{"--node-id", "from-flag"}, env, file)
	if err != nil {
		t.Fatal(err)
	}
	if c.NodeID != "from-flag" || c.SnapshotBytes != 2<<20 || c.MaxClients != 7 || c.Listen.String() != "127.0.0.1:1,[::1]:1" {
		t.Errorf("got %+v", c)
	}
	if c, _, err = parse(t, nil, env, file); err != nil || c.NodeID != "from-env" {
		t.Errorf("environment over file: got %q, %v", c.NodeID, err)
	}
}

// TestBadSettings: each setting has a value that is refused, with a text that
// names it.
func TestBadSettings(t *testing.T) {
	bad := map[string][]string{
		"node-id":                {"", "a b", strings.Repeat("x", 65)},
		"data-dir":               {""},
		"listen":                 {"6379", "127.0.0.1:x", "127.0.0.1:70000", "none"},
		"seats":                  {"127.0.0.1", "127.0.0.1:6379", strings.Repeat("127.0.0.1:0,", 15) + "127.0.0.1:0"},
		"raft-listen":            {"", "7379", ":7379", "0.0.0.0:7379", "127.0.0.1:6379"},
		"raft-advertise":         {"host", "0.0.0.0:1"},
		"http-listen":            {"8379", "127.0.0.1:7379"},
		"cluster":                {"n1", "n1=host", "n2=127.0.0.1:1", "n1=127.0.0.1:1,n1=127.0.0.1:2", "n1=127.0.0.1:1,n2=127.0.0.1:1", "n1=127.0.0.1:0", "n1=:1"},
		"entries-in-flight":      {"0", "65", "many"},
		"log-store":              {"", "memory"},
		"snapshot-bytes":         {"-1", "64 apples", "1", "99999999999gb"},
		"no-leader-wait":         {"3", "-1s", "0", "2m"},
		"heartbeat":              {"1ms", "2m", "200"},
		"join":                   {"127.0.0.1:7379"},
		"maxclients":             {"0", "-1", "many", "1000001"},
		"timeout":                {"-1s", "10ms", "300"},
		"maxmemory":              {"1kb", "-5", "lots"},
		"reply-memory":           {"0", "1mb", "-5", "lots"},
		"notify-keyspace-events": {"Ky"},
		"pprof":                  {"maybe"},
		"log-format":             {"xml"},
		"log-level":              {"trace"},
	}
	good := map[string]bool{"unix-socket": true, "password-file": true} // any path may be meant
	c := defaultConfig()
	fs := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	c.bind(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Usage == "" {
			t.Errorf("--%s has no text", f.Name)
		}
		if len(bad[f.Name]) == 0 && !good[f.Name] {
			t.Errorf("--%s has no bad value in this test", f.Name)
		}
	})
	for name, values := range bad {
		for _, value := range values {
			if _, _, err := parse(t, []string{"--" + name + "=" + value}, nil, ""); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("--%s=%s: got error %v, want one that names it", name, value, err)
			}
			if value == "" {
				continue
			}
			if _, _, err := parse(t, nil, map[string]string{variableOf(name): value}, ""); err == nil {
				t.Errorf("%s=%s is taken", variableOf(name), value)
			}
		}
	}
}

// TestUnknownKeys: a misspelt key must not be taken for one that is in force.
func TestUnknownKeys(t *testing.T) {
	for _, file := range []string{"nodeid: n1", "config: x", "listen: {a: b}", "node-id: [a]", "maxclients: [7]", "maxmemory: []", "listen: [[a]]", "node-id: n1\nnode-id: n2", "- a", "print-config: true"} {
		if _, _, err := parse(t, nil, nil, file); err == nil {
			t.Errorf("file %q is taken", file)
		}
	}
}

// TestPrintedConfigIsRead: what --print-config writes, --config reads to the same.
func TestPrintedConfigIsRead(t *testing.T) {
	args := []string{"--node-id=n2", "--cluster=n1=10.0.0.1:7379,n2=10.0.0.2:7379", "--maxmemory=1gb", "--seats=none", "--timeout=5m", "--log-level=warn"}
	want, fs, err := parse(t, args, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	var out, again bytes.Buffer
	if err := printSettings(fs, &out); err != nil {
		t.Fatal(err)
	}
	got, fs, err := parse(t, nil, nil, out.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	if err := printSettings(fs, &again); err != nil || out.String() != again.String() {
		t.Errorf("printed %s\nthen %s (%v)", out.String(), again.String(), err)
	}
	if got.MaxMemory != want.MaxMemory || got.Timeout != want.Timeout || len(got.Seats) != 0 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestPassword: from the environment or a file, never both, never empty.
func TestPassword(t *testing.T) {
	env := func(value string, set bool) func(string) (string, bool) {
		return func(string) (string, bool) { return value, set }
	}
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("secret\r\nnot this\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := readPassword(file, env("", false)); p != "secret" || err != nil {
		t.Errorf("file: %q, %v", p, err)
	}
	if p, err := readPassword("", env("other", true)); p != "other" || err != nil {
		t.Errorf("environment: %q, %v", p, err)
	}
	if _, err := readPassword(file, env("other", true)); err == nil {
		t.Error("two passwords are taken")
	}
	if _, err := readPassword("", env("", true)); err == nil {
		t.Error("an empty password is taken")
	}
	if _, err := readPassword(filepath.Join(t.TempDir(), "none"), env("", false)); err == nil {
		t.Error("a missing file is taken")
	}
}

// TestAnnouncedAddresses: what other nodes are told can be dialed.
func TestAnnouncedAddresses(t *testing.T) {
	c, _, err := parse(t, []string{"--listen=:0", "--seats=127.0.0.1:0,0.0.0.0:0", "--http-listen=[::]:0", "--cluster=n1=db1.example:7379", "--raft-listen=:0"}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := openPorts(&c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	a := c.announced(p)
	for addr, host := range map[string]string{a.Client: "db1.example:", a.Seats[0]: "127.0.0.1:", a.Seats[1]: "db1.example:", a.HTTP: "db1.example:"} {
		if !strings.HasPrefix(addr, host) || strings.HasSuffix(addr, ":0") {
			t.Errorf("announced %s, want the host %s and the port that is open", addr, host)
		}
	}
}

// TestPortsNameTheirFlag: what can't be opened is told with the flag that asked for it.
func TestPortsNameTheirFlag(t *testing.T) {
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	none := []string{"--listen=127.0.0.1:0", "--seats=none", "--http-listen=none"}
	for flag, value := range map[string]string{
		"listen": used.Addr().String(), "seats": used.Addr().String(), "http-listen": used.Addr().String(),
		"unix-socket": filepath.Join(t.TempDir(), "no", "such", "folder"),
	} {
		c, _, err := parse(t, append(none, "--"+flag+"="+value), nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if p, err := openPorts(&c); err == nil {
			p.close()
			t.Errorf("--%s %s was opened", flag, value)
		} else if !strings.HasPrefix(err.Error(), "--"+flag+": ") {
			t.Errorf("--%s %s: %v", flag, value, err)
		}
	}
}
