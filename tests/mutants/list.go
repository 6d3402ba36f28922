package main

// mutants are the seeded bugs, by the promise that each breaks.
var mutants = []mutant{
	{
		name: "no-term-rule", promise: "P2", file: "fsm/clock.go",
		find: "if st.Term != term {", replace: "if st.Term > term {",
		pkg: "./fsm", run: "TestStampOfAnotherTermIsIgnored",
	},
	{
		name: "clock-goes-back", promise: "P2", file: "fsm/clock.go",
		find: "next.now = max(c.now, now)", replace: "next.now = now",
		pkg: "./fsm", run: "TestClockNeverGoesBack", flags: []string{"-rapid.nofailfile"},
	},
	{
		name: "wall-clock-unbounded", promise: "P2", file: "fsm/clock.go",
		find: "min(wall, c.wall+passed+passed/wallSlack)", replace: "max(wall, passed)",
		pkg: "./fsm", run: "TestWallJumpEndsNothing",
	},
	{
		name: "batch-runs-twice", promise: "P6", file: "fsm/origin.go",
		find: "case b.Number <= o.last:", replace: "case b.Number+1 <= o.last:",
		pkg: "./fsm", run: "TestBatchRunsOnce",
	},
	{
		name: "cancel-is-forgotten", promise: "P6", file: "fsm/origin.go",
		find: "o.keep(kept{status: Cancelled})", replace: "o.size += 0",
		pkg: "./fsm", run: "TestCancelledBatchNeverRuns",
	},
	{
		name: "expiry-without-bound", promise: "P8", file: "fsm/apply.go",
		find: "for range ExpirePerEntry {", replace: "for {",
		pkg: "./fsm", run: "TestExpiryIsBounded",
	},
	{
		name: "snapshot-not-checked", promise: "P8", file: "fsm/restore.go",
		find: "binary.BigEndian.Uint32([]byte(tail)) != sum", replace: "sum == 0 && tail == \"\"",
		pkg: "./fsm", run: "TestDamagedSnapshotIsRefused",
	},
}
