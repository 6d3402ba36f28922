package fsm

// The rows of the commands for lists, as Redis has them in COMMAND DOCS.

var listRows = []Spec{
	{
		Name: "lpush", Arity: -3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "1.0.0", Args: "key element [element ...]",
		Summary: "Prepend one or multiple elements to a list", run: runLPUSH,
	},
	{
		Name: "rpush", Arity: -3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "1.0.0", Args: "key element [element ...]",
		Summary: "Append one or multiple elements to a list", run: runRPUSH,
	},
	{
		Name: "lpushx", Arity: -3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "2.2.0", Args: "key element [element ...]",
		Summary: "Prepend an element to a list, only if the list exists", run: runLPUSHX,
	},
	{
		Name: "rpushx", Arity: -3, Flags: Write | DenyOOM | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "2.2.0", Args: "key element [element ...]",
		Summary: "Append an element to a list, only if the list exists", run: runRPUSHX,
	},
	{
		Name: "lpop", Arity: -2, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "1.0.0", Args: "key [count]",
		Summary: "Remove and get the first elements in a list", run: runLPOP,
	},
	{
		Name: "rpop", Arity: -2, Flags: Write | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "1.0.0", Args: "key [count]",
		Summary: "Remove and get the last elements in a list", run: runRPOP,
	},
	{
		Name: "llen", Arity: 2, Flags: Read | Fast, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "1.0.0", Args: "key",
		Summary: "Get the length of a list", run: runLLEN,
	},
	{
		Name: "lindex", Arity: 3, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "1.0.0", Args: "key index",
		Summary: "Get an element from a list by its index", run: runLINDEX,
	},
	{
		Name: "lrange", Arity: 4, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "1.0.0", Args: "key start stop",
		Summary: "Get a range of elements from a list", run: runLRANGE,
	},
	{
		Name: "lrem", Arity: 4, Flags: Write, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "1.0.0", Args: "key count element",
		Summary: "Remove elements from a list", run: runLREM,
	},
	{
		Name: "lset", Arity: 4, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "1.0.0", Args: "key index element",
		Summary: "Set the value of an element in a list by its index", run: runLSET,
	},
	{
		Name: "ltrim", Arity: 4, Flags: Write, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "1.0.0", Args: "key start stop",
		Summary: "Trim a list to the specified range", run: runLTRIM,
	},
	{
		Name: "linsert", Arity: 5, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "2.2.0", Args: "key <BEFORE | AFTER> pivot element",
		Summary: "Insert an element before or after another element in a list", run: runLINSERT,
	},
	{
		Name: "lpos", Arity: -3, Flags: Read, Where: Machine, First: 1, Last: 1, Step: 1,
		Group: "list", Since: "6.0.6", Args: "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
		Summary: "Return the index of matching elements on a list", run: runLPOS,
	},
	{
		Name: "lmove", Arity: 5, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: 2, Step: 1,
		Group: "list", Since: "6.2.0", Args: "source destination <LEFT | RIGHT> <LEFT | RIGHT>",
		Summary: "Pop an element from a list, push it to another list and return it", run: runLMOVE,
	},
	{
		Name: "rpoplpush", Arity: 3, Flags: Write | DenyOOM, Where: Machine, First: 1, Last: 2, Step: 1,
		Group: "list", Since: "1.2.0", Args: "source destination",
		Summary: "Remove the last element in a list, prepend it to another list and return it", run: runRPOPLPUSH,
	},
	{
		Name: "lmpop", Arity: -4, Flags: Write | MovableKeys, Where: Machine,
		Group: "list", Since: "7.0.0", Args: "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
		Summary: "Pop elements from a list", run: runLMPOP,
	},
}
