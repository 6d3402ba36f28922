package replica

import (
	gometrics "github.com/hashicorp/go-metrics"
	metricsprom "github.com/hashicorp/go-metrics/prometheus"
	"github.com/prometheus/client_golang/prometheus"
)

// PrometheusSink shows raft's own numbers in a registry, under redfence_raft_*:
// it is for Config.Metrics. One sink a registry.
func PrometheusSink(registry prometheus.Registerer) (gometrics.MetricSink, error) {
	return metricsprom.NewPrometheusSinkFrom(metricsprom.PrometheusOpts{Name: "redfence_raft", Registerer: registry})
}

// setRaftMetrics sends raft's numbers to the sink. They are global to the process.
func (n *Node) setRaftMetrics() {
	if n.cfg.Metrics == nil {
		return
	}
	conf := gometrics.DefaultConfig("redfence")
	conf.EnableHostname, conf.EnableRuntimeMetrics = false, false
	if _, err := gometrics.NewGlobal(conf, n.cfg.Metrics); err != nil {
		n.log.Warn("raft's metrics are not exported", "error", err)
	}
}
