package fence_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/redfence/redfence/client/fence"
)

func nothing() error { return nil }

// TestGate: an old token is refused before anything is done, an equal one passes.
func TestGate(t *testing.T) {
	var g fence.Gate
	for _, step := range []struct {
		token int64
		want  error
	}{{0, fence.ErrNoToken}, {-1, fence.ErrNoToken}, {5, nil}, {5, nil}, {4, fence.ErrOldToken}, {9, nil}, {5, fence.ErrOldToken}} {
		ran := false
		err := g.Do(step.token, func() error { ran = true; return nil })
		if !errors.Is(err, step.want) || ran != (step.want == nil) {
			t.Errorf("token %d: %v, ran %v", step.token, err, ran)
		}
	}
	if err := g.Do(10, func() error { return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) || g.Highest() != 10 {
		t.Errorf("%v, highest %d", err, g.Highest())
	}
}

// TestGateIsOneStep: nobody newer comes between a check and its write.
func TestGateIsOneStep(t *testing.T) {
	var g fence.Gate
	var writers sync.WaitGroup
	last := int64(0)
	for i := range int64(200) {
		writers.Go(func() {
			err := g.Do(i+1, func() error {
				if i+1 < last {
					return fmt.Errorf("%d was written after %d", i+1, last)
				}
				last = i + 1
				return nil
			})
			if err != nil && !errors.Is(err, fence.ErrOldToken) {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if last != 200 {
		t.Errorf("the last write has token %d", last)
	}
}

// TestGates: names have nothing to do with one another, and their number is bounded.
func TestGates(t *testing.T) {
	g := fence.NewGates(2)
	for _, step := range []struct {
		name  string
		token int64
		want  error
	}{{"a", 7, nil}, {"b", 3, nil}, {"c", 9, fence.ErrFull}, {"a", 6, fence.ErrOldToken}, {"b", 4, nil}} {
		if err := g.Do(step.name, step.token, nothing); !errors.Is(err, step.want) {
			t.Errorf("%s %d: %v", step.name, step.token, err)
		}
	}
	g.Forget("a")
	if err := g.Do("c", 1, nothing); err != nil {
		t.Error(err)
	}
}

// TestHandler: what a server with the middleware answers.
func TestHandler(t *testing.T) {
	served := 0
	h := fence.Handler(fence.NewGates(1), func(r *http.Request) string { return r.URL.Path },
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { served++; w.WriteHeader(http.StatusCreated) }))
	for _, step := range []struct {
		path  string
		token int64
		want  int
	}{
		{"/file", 0, 428}, {"/file", 4, 201}, {"/file", 4, 201}, {"/file", 3, 412}, {"/file", 9, 201}, {"/file", 4, 412}, {"/other", 9, 503},
	} {
		r := httptest.NewRequest(http.MethodPut, step.path, nil)
		if step.token > 0 {
			fence.SetToken(r, step.token)
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != step.want {
			t.Errorf("%s with token %d: %d %s, want %d", step.path, step.token, w.Code, w.Body, step.want)
		}
	}
	if served != 3 {
		t.Errorf("served %d requests", served)
	}
	for _, bad := range []string{"x", "-1", "1e3", "99999999999999999999"} {
		r := httptest.NewRequest(http.MethodPut, "/file", nil)
		r.Header.Set(fence.Header, bad)
		if n, err := fence.Token(r); !errors.Is(err, fence.ErrNoToken) {
			t.Errorf("token %q: %d %v", bad, n, err)
		}
	}
}

func ExampleGate() {
	var g fence.Gate
	fmt.Println(g.Do(34, func() error { fmt.Println("written with 34"); return nil }))
	// A holder that stood still comes late.
	fmt.Println(g.Do(33, func() error { fmt.Println("written with 33"); return nil }))
	// Output:
	// written with 34
	// <nil>
	// fence: the token is older than one that was seen before: 33 after 34
}
