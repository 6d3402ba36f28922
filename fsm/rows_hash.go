package fsm

// The rows of the commands for hashes, as Redis has them in COMMAND DOCS.

var hashRows = []Spec{
	{
		Name: "hset", Arity: -4, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key field value [field value ...]",
		Summary: "Set the string value of a hash field", run: runHSET,
	},
	{
		Name: "hsetnx", Arity: 4, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key field value",
		Summary: "Set the value of a hash field, only if the field does not exist", run: runHSETNX,
	},
	{
		Name: "hmset", Arity: -4, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key field value [field value ...]",
		Summary: "Set multiple hash fields to multiple values", run: runHMSET,
	},
	{
		Name: "hget", Arity: 3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key field",
		Summary: "Get the value of a hash field", run: runHGET,
	},
	{
		Name: "hmget", Arity: -3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key field [field ...]",
		Summary: "Get the values of all the given hash fields", run: runHMGET,
	},
	{
		Name: "hgetall", Arity: 2, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key",
		Summary: "Get all the fields and values in a hash", run: runHGETALL,
	},
	{
		Name: "hdel", Arity: -3, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key field [field ...]",
		Summary: "Delete one or more hash fields", run: runHDEL,
	},
	{
		Name: "hexists", Arity: 3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key field",
		Summary: "Determine if a hash field exists", run: runHEXISTS,
	},
	{
		Name: "hlen", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key",
		Summary: "Get the number of fields in a hash", run: runHLEN,
	},
	{
		Name: "hstrlen", Arity: 3, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "3.2.0", Args: "key field",
		Summary: "Get the length of the value of a hash field", run: runHSTRLEN,
	},
	{
		Name: "hkeys", Arity: 2, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key",
		Summary: "Get all the fields in a hash", run: runHKEYS,
	},
	{
		Name: "hvals", Arity: 2, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key",
		Summary: "Get all the values in a hash", run: runHVALS,
	},
	{
		Name: "hincrby", Arity: 4, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.0.0", Args: "key field increment",
		Summary: "Increment the integer value of a hash field by the given number", run: runHINCRBY,
	},
	{
		Name: "hincrbyfloat", Arity: 4, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.6.0", Args: "key field increment",
		Summary: "Increment the float value of a hash field by the given amount", run: runHINCRBYFLOAT,
	},
	{
		Name: "hscan", Arity: -3, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "2.8.0", Args: "key cursor [MATCH pattern] [COUNT count]",
		Summary: "Incrementally iterate hash fields and associated values", run: runHSCAN,
	},
	{
		// Not Read, though it changes nothing: what it draws comes with an entry.
		Name: "hrandfield", Arity: -2, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "hash", Since: "6.2.0", Args: "key [count [WITHVALUES]]",
		Summary: "Get one or multiple random fields from a hash", run: runHRANDFIELD,
	},
}
