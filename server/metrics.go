package server

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics is the node's own registry. What is counted elsewhere is read when
// somebody asks; only histograms are kept here.
type metrics struct {
	registry *prometheus.Registry
	runTime  prometheus.Histogram
	runSize  prometheus.Histogram
}

const (
	runSecondsHelp  = "Time from sending a pipeline's commands to the machine until their answers."
	runCommandsHelp = "Commands that a pipeline sent to the machine together."
)

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		runTime: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "redfence_run_seconds",
			Help: runSecondsHelp,
			// From what one commit on a fast disk takes up to the time-outs of clients.
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		runSize: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "redfence_run_commands",
			Help:    runCommandsHelp,
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 1024},
		}),
	}
	m.registry.MustRegister(m.runTime, m.runSize, &collector{server: s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) observe(took time.Duration, commands int) {
	if commands == 0 {
		return
	}
	m.runTime.Observe(took.Seconds())
	m.runSize.Observe(float64(commands))
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// Registry is where other parts of the process add their numbers, as raft's.
func (s *Server) Registry() *prometheus.Registry { return s.metrics.registry }
