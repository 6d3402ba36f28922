package compat_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	byExecuteCommand = "`client.execute_command(\"LOCK.TOKEN\", key)`"
	oneServer        = "none: a list of one server is a quorum of one"
	redisPyQuirks    = "without `timeout` the lock has no lease: give one; it asks each 0.1 s (`sleep`)"
)

var python = &toolchain{
	name:    "python",
	prepare: preparePython,
	libraries: []library{
		{Name: "redis-py 4 Lock", Language: "Python", Port: "shared", Token: byExecuteCommand, Quirks: redisPyQuirks},
		{Name: "redis-py 4 Lock/asyncio", Language: "Python", Port: "shared", Token: byExecuteCommand, Quirks: redisPyQuirks},
		{Name: "redis-py 6 Lock", Language: "Python", Port: "shared", Token: byExecuteCommand, Quirks: redisPyQuirks},
		{Name: "redis-py 6 Lock/asyncio", Language: "Python", Port: "shared", Token: byExecuteCommand, Quirks: redisPyQuirks},
		{Name: "redis-py 8 Lock", Language: "Python", Port: "shared", Token: byExecuteCommand, Quirks: redisPyQuirks},
		{Name: "redis-py 8 Lock/asyncio", Language: "Python", Port: "shared", Token: byExecuteCommand, Quirks: redisPyQuirks},
		{Name: "redlock-py", Language: "Python", Masters: true, AllMasters: true, None: noExtend, Port: seatsForSeveral, Quorum: oneServer, Token: byExecuteCommand,
			Quirks: "while a master is dead its `lock` throws though a majority granted, on Redis too; its release looks at no answer"},
		{Name: "redlock (glasslion)", Language: "Python", Masters: true, AllMasters: true, None: noExtend, Port: seatsForSeveral, Quorum: oneServer, Token: byExecuteCommand,
			Quirks: "while a master is dead it throws though a majority granted, on Redis too; its release looks at no answer"},
		{Name: "redlock-ng", Language: "Python", Masters: true, Port: seatsForSeveral, Quorum: oneServer, Token: byExecuteCommand,
			Quirks: "gives a server 0.1 s to answer: set `socket_timeout` higher; its release looks at no answer"},
		{Name: "redlock-ng/asyncio", Language: "Python", Masters: true, None: noExtend, Port: seatsForSeveral, Quorum: oneServer, Token: byExecuteCommand,
			Quirks: "gives a server 0.1 s to answer: set `socket_timeout` higher; its release looks at no answer"},
		{Name: "aioredlock", Language: "Python", Masters: true, Port: seatsForSeveral, Quorum: oneServer, Token: "`await redis.execute(\"LOCK.TOKEN\", key)`",
			Quirks: "aioredis 1 only; from Python 3.12 on it needs setuptools beside it"},
		{Name: "pottery Redlock", Language: "Python", Masters: true, Port: seatsForSeveral, Quorum: oneServer, Token: potteryToken, Quirks: potteryQuirks},
		{Name: "pottery AIORedlock", Language: "Python", Masters: true, Port: seatsForSeveral, Quorum: oneServer, Token: potteryToken, Quirks: potteryQuirks},
		{Name: "python-redis-lock", Language: "Python", Port: "shared", Token: "`client.execute_command(\"LOCK.TOKEN\", \"lock:\" + name)`",
			Quirks: "whole seconds"},
		{Name: "django-redis cache.lock", Language: "Python", Port: "shared", Token: "`cache.client.get_client().execute_command(\"LOCK.TOKEN\", lock.name)`",
			Quirks: "the key is `:1:name` with the prefix and version of a fresh cache"},
		{Name: "django-redis cache.add", Language: "Python", Port: "shared", Token: "`cache.client.get_client().execute_command(\"LOCK.TOKEN\", cache.make_key(name))`",
			Quirks: "no lock of the library's, but used as one; the value is the program's own",
			None: map[string]string{
				"extend":  "the library has none",
				"foreign": "whoever calls `delete` deletes",
				"wait":    "the library has none",
			}},
		{Name: "Celery RedBeat", Language: "Python", Port: "shared", Token: "`LOCK.TOKEN redbeat::lock`",
			Quirks: "one scheduler of many runs; its lock is taken, renewed and released by the scheduler itself",
			None:   map[string]string{"contended": "it can only wait"}},
	},
	snippets: []snippet{
		{Title: "The Lock of redis-py", File: "snippet/lock.py", run: pythonRun},
		{Title: "Pottery's Redlock", File: "snippet/redlock.py", run: pythonRun},
	},
}

const (
	potteryToken  = "`client.execute_command(\"LOCK.TOKEN\", lock.key)`"
	potteryQuirks = "the key is `redlock:name`; where a master may be down: redis-py with `retry=Retry(NoBackoff(), 0)`, else each lock waits for it"
)

const (
	// pythonOldest is the oldest minor version of Python 3 that all pinned versions run on.
	pythonOldest = 11
	pipLimit     = 3 * time.Minute
	// pythonPackages is the list, of those in python/requirements, that a library is
	// installed from unless pythonLists says another.
	pythonPackages = "redis-8"
)

// pythonLists names the list of a library that can't be installed with the others:
// another version of redis-py, or another package that is imported as redlock.
var pythonLists = map[string]string{
	"redis-py 4 Lock":         "redis-4",
	"redis-py 4 Lock/asyncio": "redis-4",
	"redis-py 6 Lock":         "redis-6",
	"redis-py 6 Lock/asyncio": "redis-6",
	"redlock-py":              "redlock-py",
	"redlock (glasslion)":     "redlock",
	"redlock-ng":              "redlock-ng",
	"redlock-ng/asyncio":      "redlock-ng",
	"aioredlock":              "aioredlock",
}

func preparePython(*testing.T) (runner, error) {
	version, err := havePython()
	if err != nil {
		return nil, err
	}
	pip, err := installOnce("python/pip", version, func(fresh string) error {
		return python3("-m", "venv", fresh)
	})
	if err != nil {
		return nil, err
	}
	lists, err := filepath.Glob("python/requirements/*.txt")
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		if err := installPython(pip, version, list); err != nil {
			return nil, err
		}
	}
	return func(args ...string) *exec.Cmd {
		list := cmp.Or(pythonLists[args[0]], pythonPackages)
		return pythonCommand(list, append([]string{"main.py"}, args...)...)
	}, nil
}

func pythonRun(_ runner, file string) *exec.Cmd { return pythonCommand(pythonPackages, file) }

// pythonCommand runs the interpreter of a list's environment.
func pythonCommand(list string, args ...string) *exec.Cmd {
	interpreter, err := filepath.Abs(filepath.Join("../../tmp/compat/python", list, "bin/python"))
	cmd := exec.Command(interpreter, args...)
	cmd.Err = err
	cmd.Dir = "python"
	// Nothing is left in the program's folder.
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	return cmd
}

// havePython sees that Python and its venv are there, and tells the version.
func havePython() (string, error) {
	if exec.Command("python3", "-c", "import venv, ensurepip").Run() != nil {
		if err := installDebian("python3-venv"); err != nil {
			return "", err
		}
	}
	out, err := exec.Command("python3", "--version").Output()
	if err != nil {
		return "", err
	}
	var minor int
	if _, err := fmt.Sscanf(string(out), "Python 3.%d", &minor); err != nil || minor < pythonOldest {
		return "", fmt.Errorf("this needs Python 3.%d or newer, and here is %s", pythonOldest, out)
	}
	return string(out), nil
}

// installPython makes an environment of its own with what a list says, by the pip
// of another. An environment belongs to a version of Python.
func installPython(pip, version, list string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	if list, err = filepath.Abs(list); err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(list), ".txt")
	_, err = installOnce("python/"+name, version+string(text), func(fresh string) error {
		if err := python3("-m", "venv", "--without-pip", fresh); err != nil {
			return err
		}
		return pipInstall(pip, fresh, list)
	})
	return err
}

// pipInstall takes the list as it is: it names what the packages need in turn.
func pipInstall(pip, environment, list string) error {
	program := filepath.Join(pip, "bin/python")
	var err error
	for range 2 {
		err = runPython(program, "-m", "pip", "--python", filepath.Join(environment, "bin/python"),
			"--disable-pip-version-check", "install", "--no-deps", "-r", list)
		if err == nil {
			return nil
		}
	}
	return err
}

func python3(args ...string) error { return runPython("python3", args...) }

func runPython(program string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), pipLimit)
	defer cancel()
	if out, err := exec.CommandContext(ctx, program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
