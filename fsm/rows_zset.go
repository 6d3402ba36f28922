package fsm

// The rows of the commands for sorted sets, as Redis has them in COMMAND DOCS.

var zsetRows = []Spec{
	{
		Name: "zadd", Arity: -4, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "1.2.0", Args: "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]",
		Summary: "Add one or more members to a sorted set, or update its score if it already exists", run: runZADD,
	},
	{
		Name: "zrem", Arity: -3, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "1.2.0", Args: "key member [member ...]",
		Summary: "Remove one or more members from a sorted set", run: runZREM,
	},
	{
		Name: "zscore", Arity: 3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "1.2.0", Args: "key member",
		Summary: "Get the score associated with the given member in a sorted set", run: runZSCORE,
	},
	{
		Name: "zmscore", Arity: -3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "6.2.0", Args: "key member [member ...]",
		Summary: "Get the score associated with the given members in a sorted set", run: runZMSCORE,
	},
	{
		Name: "zcard", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "1.2.0", Args: "key",
		Summary: "Get the number of members in a sorted set", run: runZCARD,
	},
	{
		Name: "zcount", Arity: 4, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.0.0", Args: "key min max",
		Summary: "Count the members in a sorted set with scores within the given values", run: runZCOUNT,
	},
	{
		Name: "zlexcount", Arity: 4, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.8.9", Args: "key min max",
		Summary: "Count the number of members in a sorted set between a given lexicographical range", run: runZLEXCOUNT,
	},
	{
		Name: "zrange", Arity: -4, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "1.2.0", Args: "key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]",
		Summary: "Return a range of members in a sorted set", run: runZRANGE,
	},
	{
		Name: "zrevrange", Arity: -4, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "1.2.0", Args: "key start stop [WITHSCORES]",
		Summary: "Return a range of members in a sorted set, by index, with scores ordered from high to low", run: runZREVRANGE,
	},
	{
		Name: "zrangebyscore", Arity: -4, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "1.0.5", Args: "key min max [WITHSCORES] [LIMIT offset count]",
		Summary: "Return a range of members in a sorted set, by score", run: runZRANGEBYSCORE,
	},
	{
		Name: "zrevrangebyscore", Arity: -4, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.2.0", Args: "key max min [WITHSCORES] [LIMIT offset count]",
		Summary: "Return a range of members in a sorted set, by score, with scores ordered from high to low", run: runZREVRANGEBYSCORE,
	},
	{
		Name: "zrangebylex", Arity: -4, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.8.9", Args: "key min max [LIMIT offset count]",
		Summary: "Return a range of members in a sorted set, by lexicographical range", run: runZRANGEBYLEX,
	},
	{
		Name: "zrevrangebylex", Arity: -4, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.8.9", Args: "key max min [LIMIT offset count]",
		Summary: "Return a range of members in a sorted set, by lexicographical range, ordered from higher to lower strings.", run: runZREVRANGEBYLEX,
	},
	{
		Name: "zrangestore", Arity: -5, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: 2, Step: 1,
		Group: "sorted-set", Since: "6.2.0", Args: "dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]",
		Summary: "Store a range of members from sorted set into another key", run: runZRANGESTORE,
	},
	{
		Name: "zincrby", Arity: 4, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "1.2.0", Args: "key increment member",
		Summary: "Increment the score of a member in a sorted set", run: runZINCRBY,
	},
	{
		Name: "zrank", Arity: 3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.0.0", Args: "key member",
		Summary: "Determine the index of a member in a sorted set", run: runZRANK,
	},
	{
		Name: "zrevrank", Arity: 3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.0.0", Args: "key member",
		Summary: "Determine the index of a member in a sorted set, with scores ordered from high to low", run: runZREVRANK,
	},
	{
		Name: "zremrangebyscore", Arity: 4, Flags: Write, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "1.2.0", Args: "key min max",
		Summary: "Remove all members in a sorted set within the given scores", run: runZREMRANGEBYSCORE,
	},
	{
		Name: "zremrangebyrank", Arity: 4, Flags: Write, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.0.0", Args: "key start stop",
		Summary: "Remove all members in a sorted set within the given indexes", run: runZREMRANGEBYRANK,
	},
	{
		Name: "zremrangebylex", Arity: 4, Flags: Write, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.8.9", Args: "key min max",
		Summary: "Remove all members in a sorted set between the given lexicographical range", run: runZREMRANGEBYLEX,
	},
	{
		Name: "zpopmin", Arity: -2, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "5.0.0", Args: "key [count]",
		Summary: "Remove and return members with the lowest scores in a sorted set", run: runZPOPMIN,
	},
	{
		Name: "zpopmax", Arity: -2, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "5.0.0", Args: "key [count]",
		Summary: "Remove and return members with the highest scores in a sorted set", run: runZPOPMAX,
	},
	{
		Name: "zmpop", Arity: -4, Flags: Write | MovableKeys, Where: Machine,
		Group: "sorted-set", Since: "7.0.0", Args: "numkeys key [key ...] <MIN | MAX> [COUNT count]",
		Summary: "Remove and return members with scores in a sorted set", run: runZMPOP,
	},
	{
		// Not Read, though it changes nothing: what it draws comes with an entry.
		Name: "zrandmember", Arity: -2, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "6.2.0", Args: "key [count [WITHSCORES]]",
		Summary: "Get one or multiple random elements from a sorted set", run: runZRANDMEMBER,
	},
	{
		Name: "zunion", Arity: -3, Flags: Read | MovableKeys, Where: Machine,
		Group: "sorted-set", Since: "6.2.0", Args: "numkeys key [key ...] [WEIGHTS weight [WEIGHTS weight ...]] [AGGREGATE SUM | MIN | MAX] [WITHSCORES]",
		Summary: "Add multiple sorted sets", run: runZUNION,
	},
	{
		Name: "zinter", Arity: -3, Flags: Read | MovableKeys, Where: Machine,
		Group: "sorted-set", Since: "6.2.0", Args: "numkeys key [key ...] [WEIGHTS weight [WEIGHTS weight ...]] [AGGREGATE SUM | MIN | MAX] [WITHSCORES]",
		Summary: "Intersect multiple sorted sets", run: runZINTER,
	},
	{
		Name: "zdiff", Arity: -3, Flags: Read | MovableKeys, Where: Machine,
		Group: "sorted-set", Since: "6.2.0", Args: "numkeys key [key ...] [WITHSCORES]",
		Summary: "Subtract multiple sorted sets", run: runZDIFF,
	},
	{
		Name: "zunionstore", Arity: -4, Flags: Write | DenyOOM | MovableKeys, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.0.0", Args: "destination numkeys key [key ...] [WEIGHTS weight [WEIGHTS weight ...]] [AGGREGATE SUM | MIN | MAX]",
		Summary: "Add multiple sorted sets and store the resulting sorted set in a new key", run: runZUNIONSTORE,
	},
	{
		Name: "zinterstore", Arity: -4, Flags: Write | DenyOOM | MovableKeys, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.0.0", Args: "destination numkeys key [key ...] [WEIGHTS weight [WEIGHTS weight ...]] [AGGREGATE SUM | MIN | MAX]",
		Summary: "Intersect multiple sorted sets and store the resulting sorted set in a new key", run: runZINTERSTORE,
	},
	{
		Name: "zdiffstore", Arity: -4, Flags: Write | DenyOOM | MovableKeys, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "6.2.0", Args: "destination numkeys key [key ...]",
		Summary: "Subtract multiple sorted sets and store the resulting sorted set in a new key", run: runZDIFFSTORE,
	},
	{
		Name: "zintercard", Arity: -3, Flags: Read | MovableKeys, Where: Machine,
		Group: "sorted-set", Since: "7.0.0", Args: "numkeys key [key ...] [LIMIT limit]",
		Summary: "Intersect multiple sorted sets and return the cardinality of the result", run: runZINTERCARD,
	},
	{
		Name: "zscan", Arity: -3, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "sorted-set", Since: "2.8.0", Args: "key cursor [MATCH pattern] [COUNT count]",
		Summary: "Incrementally iterate sorted sets elements and associated scores", run: runZSCAN,
	},
}
