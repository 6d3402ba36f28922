package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// Names of the flags that say where settings come from and are none themselves.
const (
	configFlag      = "config"
	printConfigFlag = "print-config"
)

// passwordVariable holds the password of clients, and that of an operator's command.
const passwordVariable = "REDFENCE_PASSWORD"

// layer is one source of settings by flag name, for koanf.
type layer map[string]any

// ReadBytes is never called: a layer is no text.
func (l layer) ReadBytes() ([]byte, error) {
	return nil, errors.New("a layer of settings has no bytes")
}

// Read gives koanf the settings.
func (l layer) Read() (map[string]any, error) { return l, nil }

// settle fills the flags that were not given on the command line from the
// environment and, beneath it, from the file. It changes nothing else.
func settle(fs *pflag.FlagSet, file string, lookup func(string) (string, bool)) error {
	fromFile, err := fileLayer(fs, file)
	if err != nil {
		return err
	}
	fromEnv := envLayer(fs, lookup)
	k := koanf.New("\n")
	for _, l := range []layer{fromFile, fromEnv} {
		if err := k.Load(l, nil); err != nil {
			return err
		}
	}
	for _, name := range k.Keys() {
		flag := fs.Lookup(name)
		if flag.Changed {
			continue
		}
		if err := fs.Set(name, k.String(name)); err != nil {
			source := variableOf(name)
			if _, ok := fromEnv[name]; !ok {
				source = file + ": " + name
			}
			return usagef("%s: %v", source, err)
		}
	}
	return nil
}

// isSetting says whether a flag is a setting that may stand in the file and the environment.
func isSetting(f *pflag.Flag) bool {
	return f.Name != configFlag && f.Name != printConfigFlag && f.Name != "help"
}

// variableOf is the environment variable of a flag.
func variableOf(flag string) string {
	return "REDFENCE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func envLayer(fs *pflag.FlagSet, lookup func(string) (string, bool)) layer {
	l := layer{}
	fs.VisitAll(func(f *pflag.Flag) {
		if value, ok := lookup(variableOf(f.Name)); ok && isSetting(f) {
			l[f.Name] = value
		}
	})
	return l
}

// fileLayer reads a YAML file of settings. A key that is no flag is an error,
// so that a misspelt one can't be taken for one that is in force.
func fileLayer(fs *pflag.FlagSet, file string) (layer, error) {
	l := layer{}
	if file == "" {
		return l, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, usageError{err}
	}
	defer f.Close()
	var keys map[string]yaml.Node
	if err := yaml.NewDecoder(f).Decode(&keys); err != nil && !errors.Is(err, io.EOF) {
		return nil, usagef("%s: %v", file, err)
	}
	for name, node := range keys {
		flag := fs.Lookup(name)
		if flag == nil || !isSetting(flag) {
			return nil, usagef("%s:%d: there is no setting %q", file, node.Line, name)
		}
		if l[name], err = valueOf(flag, &node); err != nil {
			return nil, usagef("%s:%d: %s: %v", file, node.Line, name, err)
		}
	}
	return l, nil
}

// valueOf turns a value of the file into the text that the flag would be given.
// For a flag that takes several a list is its items with commas between them.
func valueOf(flag *pflag.Flag, node *yaml.Node) (string, error) {
	switch node.Kind {
	case yaml.ScalarNode:
		if node.Tag == "!!null" {
			return "", nil
		}
		return node.Value, nil
	case yaml.SequenceNode:
		switch flag.Value.(type) {
		case *addrList, *peerList:
		default:
			return "", errors.New("want a plain value, not a list")
		}
		items := make([]string, len(node.Content))
		for i, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				return "", errors.New("want a list of plain values")
			}
			items[i] = item.Value
		}
		return strings.Join(items, ","), nil
	}
	return "", errors.New("want a plain value or a list")
}

// printSettings writes what is in force as a file that --config would read.
func printSettings(fs *pflag.FlagSet, w io.Writer) error {
	doc := &yaml.Node{Kind: yaml.MappingNode}
	fs.VisitAll(func(f *pflag.Flag) {
		if isSetting(f) {
			var value yaml.Node
			value.SetString(f.Value.String())
			if t := f.Value.Type(); t == "int" || t == "bool" {
				value.Tag = ""
			}
			doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.Name}, &value)
		}
	})
	enc := yaml.NewEncoder(w)
	if err := enc.Encode(doc); err != nil {
		return err
	}
	return enc.Close()
}

// readPassword takes the password from the environment or a file's first line.
func readPassword(file string, lookup func(string) (string, bool)) (string, error) {
	fromEnv, inEnv := lookup(passwordVariable)
	if file == "" {
		if inEnv && fromEnv == "" {
			return "", usagef("%s is set but empty: unset it to serve without a password", passwordVariable)
		}
		return fromEnv, nil
	}
	if inEnv {
		return "", usagef("both --password-file and %s are set", passwordVariable)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", usageError{fmt.Errorf("--password-file: %w", err)}
	}
	password, _, _ := strings.Cut(string(data), "\n")
	if password = strings.TrimSuffix(password, "\r"); password == "" {
		return "", usagef("--password-file %s: the first line is empty", file)
	}
	return password, nil
}
