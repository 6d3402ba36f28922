package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/pprof"
)

// Handler serves HTTP: /healthz (the process works, also without a leader and
// while it loads), /readyz (it can serve; 503 and the reason if not) and
// /metrics, and with Config.Profiles /debug/pprof. It answers GET and HEAD.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := s.ready(r.Context()); err != nil {
			say(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
			return
		}
		say(w, http.StatusOK, "ready")
	})
	mux.Handle("GET /metrics", s.metrics.handler())
	if s.cfg.Profiles {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // who went away doesn't want to know
}

// ready says why this node can't serve now. A backend that doesn't answer in
// time is not ready.
func (s *Server) ready(ctx context.Context) error {
	if s.closing.Load() {
		return errClosing
	}
	if s.backend.Loading() {
		return errors.New("loading")
	}
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	answer := make(chan error, 1)
	go func() { answer <- s.backend.Ready() }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return errors.New("no answer within a second")
	}
}

// HTTPServer is an http.Server for Handler with bounds on what a client may keep
// busy. It should be given listeners of HTTPListener.
func (s *Server) HTTPServer() *http.Server {
	return &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: HTTPReadTimeout,
		ReadTimeout:       HTTPReadTimeout,
		WriteTimeout:      HTTPWriteTimeout,
		IdleTimeout:       HTTPIdleTimeout,
		MaxHeaderBytes:    64 << 10,
	}
}
