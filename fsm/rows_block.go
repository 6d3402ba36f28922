package fsm

// The rows of the commands that may wait, as Redis has them in COMMAND DOCS.

var blockingRows = []Spec{
	{
		Name: "blpop", Arity: -3, Flags: Write | NoScript | Blocking, Where: Machine, First: 1, Last: -2, Step: 1,
		Group: "list", Since: "2.0.0", Args: "key [key ...] timeout",
		Summary: "Remove and get the first element in a list, or block until one is available", run: runBlocking, want: wantPop(head),
	},
	{
		Name: "brpop", Arity: -3, Flags: Write | NoScript | Blocking, Where: Machine, First: 1, Last: -2, Step: 1,
		Group: "list", Since: "2.0.0", Args: "key [key ...] timeout",
		Summary: "Remove and get the last element in a list, or block until one is available", run: runBlocking, want: wantPop(tail),
	},
	{
		Name: "brpoplpush", Arity: 4, Flags: Write | DenyOOM | NoScript | Blocking, Where: Machine, First: 1, Last: 2, Step: 1,
		Group: "list", Since: "2.2.0", Args: "source destination timeout",
		Summary: "Pop an element from a list, push it to another list and return it; or block until one is available", run: runBlocking, want: wantPopPush,
	},
	{
		Name: "blmove", Arity: 6, Flags: Write | DenyOOM | NoScript | Blocking, Where: Machine, First: 1, Last: 2, Step: 1,
		Group: "list", Since: "6.2.0", Args: "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout",
		Summary: "Pop an element from a list, push it to another list and return it; or block until one is available", run: runBlocking, want: wantMove,
	},
	{
		Name: "blmpop", Arity: -5, Flags: Write | Blocking | MovableKeys, Where: Machine,
		Group: "list", Since: "7.0.0", Args: "timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
		Summary: "Pop elements from a list, or block until one is available", run: runBlocking, want: wantMultiPop,
	},
	{
		Name: "bzpopmin", Arity: -3, Flags: Write | NoScript | Blocking | Fast, Where: Machine, First: 1, Last: -2, Step: 1,
		Group: "sorted-set", Since: "5.0.0", Args: "key [key ...] timeout",
		Summary: "Remove and return the member with the lowest score from one or more sorted sets, or block until one is available", run: runBlocking, want: wantScored(false),
	},
	{
		Name: "bzpopmax", Arity: -3, Flags: Write | NoScript | Blocking | Fast, Where: Machine, First: 1, Last: -2, Step: 1,
		Group: "sorted-set", Since: "5.0.0", Args: "key [key ...] timeout",
		Summary: "Remove and return the member with the highest score from one or more sorted sets, or block until one is available", run: runBlocking, want: wantScored(true),
	},
	{
		Name: "bzmpop", Arity: -5, Flags: Write | Blocking | MovableKeys, Where: Machine,
		Group: "sorted-set", Since: "7.0.0", Args: "timeout numkeys key [key ...] <MIN | MAX> [COUNT count]",
		Summary: "Remove and return members with scores in a sorted set or block until one is available", run: runBlocking, want: wantMultiScored,
	},
	{
		Name: "_unwait", Arity: 2, Flags: NoScript | NoMulti, Where: Machine, Group: "server", Since: "redfence", Args: "ticket",
		Summary: "Not for clients: ends a wait of the node that asks", run: runUnwait,
	},
}
