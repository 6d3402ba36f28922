package bench_test

// target is what a ratio of cycles a second is to be: at least the floor that holds
// for every release, and the aim that a release works towards (0: none).
type target struct {
	system, peer string
	workers      int
	least, aim   float64
}

// targets are three durable nodes against etcd, Redlock that is as
// durable and Redis that isn't, one node against durable Redis, and a follower
// against the leader.
func targets() []target {
	all := []target{
		{leaderName, etcdMutexName, 1, 1.5, 0},
		{leaderName, redlock3FsyncName, 1, 0.5, 1},
		{leaderName, etcdMutexName, 16, 2.8, 0},
		{leaderName, redlock3FsyncName, 16, 0.7, 1.2},
		{leaderName, etcdMutexName, 64, 4.4, 0},
		{leaderName, redlock3FsyncName, 64, 1.4, 2.2},
		{leaderName, etcdMutexName, 256, 4.8, 0},
		{leaderName, redlock3FsyncName, 256, 2, 3},
		{leaderName, redisName, 256, 0.47, 0.75},
	}
	for _, w := range workerCounts {
		all = append(all, target{oneName, redisFsyncName, w, 0.5, 0.8})
	}
	for _, w := range workerCounts {
		all = append(all, target{followerName, leaderName, w, 0.7, 0})
	}
	return all
}

// verdict says whether the median reaches a bound.
func verdict(seen spread, bound float64) string {
	switch {
	case bound == 0:
		return "-"
	case seen.n == 0:
		return "not run"
	case seen.median >= bound:
		return "met"
	}
	return "not met"
}
