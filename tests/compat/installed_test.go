package compat_test

import (
	"os"
	"path/filepath"
)

// installedList is the file that says, in an installed folder, what was asked for.
const installedList = "installed.txt"

// installOnce fills tmp/compat/name by install, unless that was done before from the
// same list, and returns where it is. The folder appears whole, so that a run cut
// short leaves nothing to mend.
func installOnce(name, list string, install func(fresh string) error) (string, error) {
	dir, err := compatDir(name)
	if err != nil {
		return "", err
	}
	if installedFrom(dir, list) {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+"-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := install(fresh); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(fresh, installedList), []byte(list), 0o644); err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	// Another run may have been faster.
	if err := os.Rename(fresh, dir); err != nil && !installedFrom(dir, list) {
		return "", err
	}
	return dir, nil
}

// compatDir is an absolute path under tmp/compat.
func compatDir(name string) (string, error) {
	return filepath.Abs(filepath.Join("../../tmp/compat", name))
}

func installedFrom(dir, list string) bool {
	got, err := os.ReadFile(filepath.Join(dir, installedList))
	return err == nil && string(got) == list
}
