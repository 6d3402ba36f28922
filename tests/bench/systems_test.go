package bench_test

import (
	"context"
	"fmt"
	"os/exec"
	"testing"

	"github.com/redfence/redfence/tests/internal/process"
)

// system is one way to lock that is measured.
type system struct {
	name    string
	title   string
	durable string // what has fsynced a lock when it is granted
	open    func(workers int) (fleet, error)
	// leader names who leads; nil where nobody does.
	leader func() string
	// contended says that its workers want one name.
	contended bool
}

// The names of what is measured, as they are in runs.json.
const (
	redisName         = "redis"
	redisFsyncName    = "redis-fsync"
	redlock3Name      = "redlock3"
	redlock5Name      = "redlock5"
	redlock3FsyncName = "redlock3-fsync"
	redlock5FsyncName = "redlock5-fsync"
	etcdMutexName     = "etcd-mutex"
	etcdTxnName       = "etcd-txn"

	oneName      = "redfence-one"
	leaderName   = "redfence-leader"
	followerName = "redfence-follower"
	allName      = "redfence-all"
	seatsName    = "redfence-seats"

	// Contended: -spin asks again, -wait stands in line.
	redisSpinName         = "redis-spin"
	redlock3FsyncSpinName = "redlock3-fsync-spin"
	etcdWaitName          = "etcd-wait"
	leaderSpinName        = "redfence-leader-spin"
	leaderWaitName        = "redfence-leader-wait"
	allWaitName           = "redfence-all-wait"
)

// topologies are the ways to use Redfence. A report without one of them is none.
var topologies = []string{oneName, leaderName, followerName, allName, seatsName}

// systems starts everything. What can't be run here is in notRun, with the reason.
func systems(t *testing.T) (all []system, notRun map[string]string) {
	notRun = map[string]string{}
	if path, err := exec.LookPath(*redisFlag); err != nil {
		for _, name := range []string{redisName, redisFsyncName, redlock3Name, redlock5Name, redlock3FsyncName, redlock5FsyncName, redisSpinName, redlock3FsyncSpinName} {
			notRun[name] = err.Error()
		}
	} else {
		all = append(all, redisSystems(t, path)...)
	}
	if path, err := exec.LookPath(*etcdFlag); err != nil {
		for _, name := range []string{etcdMutexName, etcdTxnName, etcdWaitName} {
			notRun[name] = err.Error()
		}
	} else {
		all = append(all, etcdSystems(t, path)...)
	}
	return append(all, redfenceSystems(t)...), notRun
}

// redisSystems share their servers: one that keeps nothing serves alone, as the first
// of three and as the first of five.
func redisSystems(t *testing.T, path string) []system {
	plain, durable := startRedis(t, path, 5, false), startRedis(t, path, 5, true)
	one := func(addrs []string) func(int) (fleet, error) {
		return func(workers int) (fleet, error) { return openPlain(addrs[:1], workers), nil }
	}
	several := func(addrs []string) func(int) (fleet, error) {
		return func(workers int) (fleet, error) { return openRedlock(addrs, workers), nil }
	}
	return []system{
		{name: redisName, title: "Redis, one node, keeps nothing", durable: "nobody", open: one(plain)},
		{name: redisFsyncName, title: "Redis, one node, appendfsync always", durable: "one", open: one(durable)},
		{name: redlock3Name, title: "redsync on 3 Redis, keep nothing", durable: "nobody", open: several(plain[:3])},
		{name: redlock5Name, title: "redsync on 5 Redis, keep nothing", durable: "nobody", open: several(plain)},
		{name: redlock3FsyncName, title: "redsync on 3 Redis, appendfsync always", durable: "a majority", open: several(durable[:3])},
		{name: redlock5FsyncName, title: "redsync on 5 Redis, appendfsync always", durable: "a majority", open: several(durable)},
		{name: redisSpinName, title: "Redis, one node, keeps nothing, asked again", durable: "nobody", contended: true, open: spin(one(plain))},
		{name: redlock3FsyncSpinName, title: "redsync on 3 Redis, appendfsync always, asked again", durable: "a majority", contended: true,
			open: spin(several(durable[:3]))},
	}
}

func etcdSystems(t *testing.T, path string) []system {
	addrs := startEtcd(t, path)
	open := func(bare bool) func(int) (fleet, error) {
		return func(int) (fleet, error) { return openEtcd(addrs, 1, bare) }
	}
	return []system{
		{name: etcdMutexName, title: "etcd, 3 nodes, concurrency.Mutex", durable: "a majority", open: open(false)},
		{name: etcdTxnName, title: "etcd, 3 nodes, one transaction and one delete", durable: "a majority", open: open(true)},
		{name: etcdWaitName, title: "etcd, 3 nodes, concurrency.Mutex", durable: "a majority", contended: true,
			open: func(workers int) (fleet, error) { return openEtcd(addrs, workers, false) }},
	}
}

func redfenceSystems(t *testing.T) []system {
	one, three := process.Start(t, 1).Nodes[0], process.Start(t, 3)
	leads := func() string { return three.Leader().ID }
	through := func(addrs func() []string) func(int) (fleet, error) {
		return func(workers int) (fleet, error) { return openPlain(addrs(), workers), nil }
	}
	atLeader := through(func() []string { return []string{three.Leader().Client} })
	var every, seats []string
	for i, n := range three.Nodes {
		every, seats = append(every, n.Client), append(seats, n.Seats[i])
	}
	return []system{
		{name: oneName, title: "Redfence, one node", durable: "one",
			open: through(func() []string { return []string{one.Client} })},
		{name: leaderName, title: "Redfence, 3 nodes, through the leader", durable: "a majority", leader: leads,
			open: atLeader},
		{name: followerName, title: "Redfence, 3 nodes, through a follower", durable: "a majority", leader: leads,
			open: through(func() []string { return []string{three.Others(three.Leader())[0].Client} })},
		{name: allName, title: "Redfence, 3 nodes, over all three", durable: "a majority", leader: leads,
			open: through(func() []string { return every })},
		{name: seatsName, title: "Redfence, 3 nodes, redsync on 3 seats", durable: "a majority", leader: leads,
			open: func(workers int) (fleet, error) { return openRedlock(seats, workers), nil }},
		{name: leaderSpinName, title: "Redfence, 3 nodes, through the leader, asked again", durable: "a majority", leader: leads, contended: true,
			open: spin(atLeader)},
		{name: leaderWaitName, title: "Redfence, 3 nodes, through the leader, LOCK.ACQUIRE WAIT", durable: "a majority", leader: leads, contended: true,
			open: func(workers int) (fleet, error) { return openQueue([]string{three.Leader().Client}, workers), nil }},
		{name: allWaitName, title: "Redfence, 3 nodes, over all three, LOCK.ACQUIRE WAIT", durable: "a majority", leader: leads, contended: true,
			open: func(workers int) (fleet, error) { return openQueue(every, workers), nil }},
	}
}

// once measures the system one time, with connections of its own.
func (s *system) once(ctx context.Context, l load) (*run, error) {
	led := ""
	if s.leader != nil {
		led = s.leader()
	}
	f, err := s.open(l.workers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	defer f.close()
	r, err := l.measure(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("%s, %d workers: %w", s.name, l.workers, err)
	}
	r.System = s.name
	if asked, ok := f.(*spinningFleet); ok {
		r.Refused = asked.refused.Load()
	}
	r.LeaderMoved = s.leader != nil && s.leader() != led
	return r, nil
}
