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
		name: "waiter-stays-after-it-was-served", promise: "P1", file: "fsm/serve.go",
		find: "s.unwait(w)\n\to := s.byID[w.origin]", replace: "o := s.byID[w.origin]",
		pkg: "./fsm", run: "TestWaitersAgainstAModel", flags: []string{"-rapid.nofailfile"},
	},
	{
		name: "last-come-first-served", promise: "P6", file: "fsm/serve.go",
		find: "_, first, _ := q.Min()", replace: "_, first, _ := q.Max()",
		pkg: "./fsm", run: "TestWaitersAgainstAModel", flags: []string{"-rapid.nofailfile"},
	},
	{
		name: "settled-before-it-waits", promise: "P6", file: "fsm/origin.go",
		find: "if b.Number <= o.last+1 {", replace: "if b.Number > 0 {",
		pkg: "./fsm", run: "TestWaitOfARefusedBatch",
	},
	{
		name: "dead-nodes-keep-their-waits", promise: "P10", file: "server/replica/presence.go",
		find: "silence <= waitSilenceMax", replace: "silence >= 0",
		pkg: "./server/replica", run: "TestWaitsOfADeadNodeEnd",
	},
	{
		name: "expiry-without-bound", promise: "P8", file: "fsm/apply.go",
		find: "for left := ExpirePerEntry; left > 0; {", replace: "for left := ExpirePerEntry; left > -1_000_000; {",
		pkg: "./fsm", run: "TestExpiryIsBounded",
	},
	{
		name: "release-by-anybody", promise: "P1", file: "fsm/cmd_lock_acquire.go",
		find: "case own != nil && isString(own) && own.str == owner:\n\t\tc.remove(own)", replace: "case own != nil && isString(own):\n\t\tc.remove(own)",
		pkg: "./fsm", run: "TestNativeLocks", flags: []string{"-rapid.nofailfile"},
	},
	{
		name: "owner-check-removed", promise: "P1", file: "fsm/cmd_lock_acquire.go",
		find: "case own != nil && isString(own) && own.str == owner:\n\t\tc.remove(own)", replace: "case own != nil && isString(own):\n\t\tc.remove(own)",
		pkg: "./tests/process", run: "TestNativeLocksUnderNemesis", flags: []string{"-faults=2"},
	},
	{
		name: "owner-check-removed-sim", promise: "P1", file: "fsm/cmd_lock_acquire.go",
		find: "case own != nil && isString(own) && own.str == owner:\n\t\tc.remove(own)", replace: "case own != nil && isString(own):\n\t\tc.remove(own)",
		pkg: "./tests/sim", run: "TestNativeLocksUnderFaults", flags: []string{"-runs=8"},
	},
	{
		name: "offer-out-of-turn", promise: "P1", file: "fsm/cmd_lock_wait.go",
		find: "_, w, _ := q.Min()", replace: "_, w, _ := q.Max()",
		pkg: "./fsm", run: "TestLockQueue", flags: []string{"-rapid.nofailfile"},
	},
	{
		name: "offer-to-anybody", promise: "P1", file: "fsm/cmd_lock_acquire.go",
		find: "case h.len() == 0, h.whole && !holds:", replace: "case h.len() == 0:",
		pkg: "./fsm", run: "TestLockQueue", flags: []string{"-rapid.nofailfile"},
	},
	{
		name: "permits-uncounted", promise: "P1", file: "fsm/cmd_lock_acquire.go",
		find: "h.permits > 0 && int64(h.len()) >= h.permits:", replace: "h.permits > 0 && int64(h.len()) > h.permits:",
		pkg: "./fsm", run: "TestNativeLocks", flags: []string{"-rapid.nofailfile"},
	},
	{
		name: "delay-ends-early", promise: "P2", file: "fsm/lock_lease.go",
		find: "return end + d", replace: "return end + d/2",
		pkg: "./fsm", run: "TestNativeLocks", flags: []string{"-rapid.nofailfile"},
	},
	{
		name: "session-ends-early", promise: "P2", file: "fsm/apply.go",
		find: "x.deadline <= s.clock.now && (!ok", replace: "x.deadline <= s.clock.now+5_000 && (!ok",
		pkg: "./fsm", run: "TestNativeLocks", flags: []string{"-rapid.nofailfile"},
	},
	{
		name: "snapshot-not-checked", promise: "P8", file: "fsm/restore.go",
		find: "binary.BigEndian.Uint32([]byte(tail)) != sum", replace: "sum == 0 && tail == \"\"",
		pkg: "./fsm", run: "TestDamagedSnapshotIsRefused",
	},
	{
		name: "clock-steps-uncapped", promise: "P2", file: "server/replica/clock.go",
		find: "counted := min(passed, clockStepMax)", replace: "counted := passed",
		pkg: "./server/replica", run: "TestClockCapsItsSteps",
	},
	{
		name: "clock-not-the-machines", promise: "P2", file: "server/replica/term.go",
		find: "t.node.clock.start(applied.now)", replace: "t.node.clock.start(applied.now + 2_000_000)",
		pkg: "./tests/sim", run: "TestLeasesUnderFaults", flags: []string{"-args", "-runs", "20"},
	},
	{
		name: "same-value-keeps-its-token", promise: "P3", file: "fsm/keyspace.go",
		find: "if !ok || r.gone(s.clock.now) {", replace: "if !ok || r.deadline+1_000_000 <= s.clock.now {",
		pkg: "./fsm", run: "Test",
	},
	{
		name: "tokens-stand-still", promise: "P3", file: "fsm/call.go",
		find: "c.s.tokens++", replace: "c.s.tokens = max(c.s.tokens, 1)",
		pkg: "./fsm", run: "Test",
	},
	{
		name: "seats-don't-see-the-shared-port", promise: "P1", file: "fsm/seats.go",
		find: "return s.get(s.db(SharedSpace, d.num), key)", replace: "return nil",
		pkg: "./fsm", run: "Test",
	},
	{
		name: "read-trusts-old-answers", promise: "P5", file: "server/replica/reads.go",
		find: "if g.best[id] > w.arrived {", replace: "if g.best[id] > 0 {",
		pkg: "./server/replica", run: "TestAnswersHeldInSocketsDoNotConfirm",
	},
	{
		name: "sent-counts-as-never-sent", promise: "P6", file: "server/replica/origin.go",
		find: "b.sent, b.before, b.exposed = true, b.exposed, true", replace: "b.sent, b.before, b.exposed = true, b.exposed, false",
		pkg: "./server/replica", run: "TestOriginIsCertainOnlyOfWhatIsInNoHands",
	},
	{
		name: "late-grant-is-answered", promise: "P2", file: "server/run.go",
		find: "(c.server.elapsed()-c.run.read).Microseconds() >= got.Grant {", replace: "(c.server.elapsed()-c.run.read).Microseconds() >= 1000*got.Grant {",
		pkg: "./server", run: "Test",
	},
	{
		name: "sleep-is-not-counted", promise: "P2", file: "server/run.go",
		find: "(c.server.elapsed()-c.run.read)", replace: "(c.server.lately()-c.run.read)",
		pkg: "./server", run: "TestGrantThatSleptIsNotAnswered",
	},
	{
		name: "listeners-are-not-told-of", promise: "P6", file: "server/hub.go",
		find: "h.server.listening.add(1)", replace: "h.server.listening.add(0)",
		pkg: "./server", run: "TestListenersAreTold",
	},
	{
		name: "read-without-confirmation", promise: "P5", file: "server/replica/reads.go",
		find: "	if w != nil {\n		poke(n.gate.kick)", replace: "	if w != nil && term == 0 {\n		poke(n.gate.kick)",
		pkg: "./server/replica", run: "TestAnswersHeldInSocketsDoNotConfirm",
	},
	{
		name: "answers-of-another-run", promise: "P6", file: "fsm/origin.go",
		find: "case b.Number <= o.last:", replace: "case b.Number+1 <= o.last:",
		pkg: "./tests/sim", run: "TestLinearizableUnderFaults", flags: []string{"-args", "-runs", "120"},
	},
	{
		name: "uncertain-counts-as-certain", promise: "P6", file: "server/replica/term.go",
		find: "errors.Is(err, raft.ErrLeadershipTransferInProgress)", replace: "errors.Is(err, raft.ErrLeadershipLost)",
		pkg: "./server/replica", run: "TestSentAndNeverAnsweredIsUnknown",
	},
}
