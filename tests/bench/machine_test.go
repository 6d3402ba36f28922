package bench_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// machine is where a run took place.
type machine struct {
	System   string   `json:"system"`
	CPUs     int      `json:"cpus"`
	Model    string   `json:"cpu_model"`
	Go       string   `json:"go"`
	Disk     string   `json:"file_system_of_data"`
	Load     string   `json:"load_average_before"`
	Versions []string `json:"versions"`
}

func thisMachine() machine {
	m := machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Model: "unknown model", Go: runtime.Version(),
		Disk: fileSystem(dataFolder()), Load: loadAverage(),
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m.Model = strings.TrimSpace(value)
				break
			}
		}
	}
	for _, c := range [][]string{{os.Getenv("REDFENCE_BIN"), "version"}, {*redisFlag, "--version"}, {*etcdFlag, "--version"}} {
		if out, err := exec.Command(c[0], c[1:]...).Output(); err == nil {
			first, _, _ := bytes.Cut(out, []byte("\n"))
			m.Versions = append(m.Versions, string(first))
		}
	}
	return m
}

// loadAverage is the system's, over 1, 5 and 15 minutes.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(text)); err == nil && len(f) >= 3 {
		return strings.Join(f[:3], " ")
	}
	return "unknown"
}

// fileSystem names the file system of a folder. On one that is memory fsync costs
// nothing, and a reader must see it.
func fileSystem(folder string) string {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return "an unknown file system"
	}
	switch uint32(s.Type) {
	case 0xEF53:
		return "ext4"
	case 0x58465342:
		return "xfs"
	case 0x9123683E:
		return "btrfs"
	case 0x794C7630:
		return "overlayfs"
	case 0x01021994:
		return "tmpfs, which is memory: fsync costs nothing here"
	}
	return fmt.Sprintf("a file system of type %#x", uint32(s.Type))
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
