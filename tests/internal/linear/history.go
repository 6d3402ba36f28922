package linear

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/redis/go-redis/v9"
)

// History is what all clients asked and were told. It is safe for concurrent use.
type History struct {
	mu         sync.Mutex
	operations []porcupine.Operation
}

// Do records a command of a client, which call sends; it answers "" and redis.Nil for nil.
func (h *History) Do(id int, in Request, call func() (string, error)) Answer {
	sent := time.Now().UnixNano()
	text, err := call()
	out := Answer{Text: text, Unknown: err != nil && err != redis.Nil}
	returned := time.Now().UnixNano()
	if out.Unknown {
		returned = math.MaxInt64 // it may take effect at any later time
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !out.Unknown || in.Op != "look" && !NotExecuted(err) {
		h.operations = append(h.operations, porcupine.Operation{ClientId: id, Input: in, Output: out, Call: sent, Return: returned})
	}
	return out
}

// NotExecuted says whether an error means that the command was certainly not executed.
func NotExecuted(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "CLUSTERDOWN") || strings.HasPrefix(text, "LOADING") || strings.Contains(text, "connection refused")
}

// Each shows every recorded command, one after the other.
func (h *History) Each(show func(in Request, out Answer, took time.Duration)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.operations {
		show(o.Input.(Request), o.Output.(Answer), time.Duration(o.Return-o.Call))
	}
}

// Check fails the test unless an order explains what was recorded. The picture of
// why not gets the given name; how says how to run it again.
func (h *History) Check(t *testing.T, m porcupine.NondeterministicModel, name, how string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	model := m.ToModel()
	result, info := porcupine.CheckOperationsVerbose(model, h.operations, time.Minute)
	if result == porcupine.Ok {
		return
	}
	picture := filepath.Join(os.TempDir(), "redfence-"+name+".html")
	if err := porcupine.VisualizePath(model, info, picture); err != nil {
		t.Error(err)
	}
	t.Errorf("%v; the picture is %s; %s", result, picture, how)
}
