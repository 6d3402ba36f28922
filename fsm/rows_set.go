package fsm

// The rows of the commands for sets, as Redis has them in COMMAND DOCS.

var setRows = []Spec{
	{
		Name: "sadd", Arity: -3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "key member [member ...]",
		Summary: "Add one or more members to a set", run: runSADD,
	},
	{
		Name: "srem", Arity: -3, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "key member [member ...]",
		Summary: "Remove one or more members from a set", run: runSREM,
	},
	{
		Name: "sismember", Arity: 3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "key member",
		Summary: "Determine if a given value is a member of a set", run: runSISMEMBER,
	},
	{
		Name: "smismember", Arity: -3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "set", Since: "6.2.0", Args: "key member [member ...]",
		Summary: "Returns the membership associated with the given elements for a set", run: runSMISMEMBER,
	},
	{
		Name: "scard", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "key",
		Summary: "Get the number of members in a set", run: runSCARD,
	},
	{
		Name: "smembers", Arity: 2, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "key",
		Summary: "Get all the members in a set", run: runSMEMBERS,
	},
	{
		Name: "spop", Arity: -2, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "key [count]",
		Summary: "Remove and return one or multiple random members from a set", run: runSPOP,
	},
	{
		// Not Read, though it changes nothing: what it draws comes with an entry.
		Name: "srandmember", Arity: -2, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "key [count]",
		Summary: "Get one or multiple random members from a set", run: runSRANDMEMBER,
	},
	{
		Name: "smove", Arity: 4, Flags: Write | Fast, Where: Machine, First: 1, Last: 2, Step: 1,
		Group: "set", Since: "1.0.0", Args: "source destination member",
		Summary: "Move a member from one set to another", run: runSMOVE,
	},
	{
		Name: "sinter", Arity: -2, Flags: Read, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "key [key ...]",
		Summary: "Intersect multiple sets", run: runSINTER,
	},
	{
		Name: "sintercard", Arity: -3, Flags: Read | MovableKeys, Where: Machine,
		Group: "set", Since: "7.0.0", Args: "numkeys key [key ...] [LIMIT limit]",
		Summary: "Intersect multiple sets and return the cardinality of the result", run: runSINTERCARD,
	},
	{
		Name: "sunion", Arity: -2, Flags: Read, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "key [key ...]",
		Summary: "Add multiple sets", run: runSUNION,
	},
	{
		Name: "sdiff", Arity: -2, Flags: Read, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "key [key ...]",
		Summary: "Subtract multiple sets", run: runSDIFF,
	},
	{
		Name: "sinterstore", Arity: -3, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "destination key [key ...]",
		Summary: "Intersect multiple sets and store the resulting set in a key", run: runSINTERSTORE,
	},
	{
		Name: "sunionstore", Arity: -3, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "destination key [key ...]",
		Summary: "Add multiple sets and store the resulting set in a key", run: runSUNIONSTORE,
	},
	{
		Name: "sdiffstore", Arity: -3, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: -1, Step: 1,
		Group: "set", Since: "1.0.0", Args: "destination key [key ...]",
		Summary: "Subtract multiple sets and store the resulting set in a key", run: runSDIFFSTORE,
	},
	{
		Name: "sscan", Arity: -3, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "set", Since: "2.8.0", Args: "key cursor [MATCH pattern] [COUNT count]",
		Summary: "Incrementally iterate Set elements", run: runSSCAN,
	},
}
