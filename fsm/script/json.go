package script

// The cjson library is lua-cjson 2.1.0 as Redis 7 carries it. A script may change
// its settings; they last as long as the call.

type jsonConfig struct {
	sparseConvert  bool
	sparseRatio    int64
	sparseSafe     int64
	encodeDepth    int64
	decodeDepth    int64
	precision      int64
	keepBuffer     bool
	encodeInvalid  int // 0 refused, 1 spelled out, 2 null
	refusedInvalid bool
}

func defaultJSON() jsonConfig {
	return jsonConfig{
		sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000,
		precision: 14, keepBuffer: true,
	}
}

type jsonFunc func(m *machine, c *jsonConfig, args []value) []value

var jsonFunctions = []struct {
	name string
	fn   jsonFunc
}{
	{"encode", jsonEncode},
	{"decode", jsonDecode},
	{"encode_sparse_array", jsonSparse},
	{"encode_max_depth", func(m *machine, c *jsonConfig, args []value) []value {
		return m.jsonInt(args, &c.encodeDepth, 1<<31-1)
	}},
	{"decode_max_depth", func(m *machine, c *jsonConfig, args []value) []value {
		return m.jsonInt(args, &c.decodeDepth, 1<<31-1)
	}},
	{"encode_number_precision", func(m *machine, c *jsonConfig, args []value) []value {
		return m.jsonInt(args, &c.precision, 14)
	}},
	{"encode_keep_buffer", func(m *machine, c *jsonConfig, args []value) []value {
		return m.jsonBool(args, &c.keepBuffer)
	}},
	{"encode_invalid_numbers", jsonEncodeInvalid},
	{"decode_invalid_numbers", func(m *machine, c *jsonConfig, args []value) []value {
		allowed := !c.refusedInvalid
		res := m.jsonBool(args, &allowed)
		c.refusedInvalid = !allowed
		return res
	}},
}

// jsonLibrary is the shared table: its settings are the call's.
var jsonLibrary = func() (list []entry) {
	for _, f := range jsonFunctions {
		list = append(list, entry{f.name, func(m *machine, args []value) []value {
			return f.fn(m, &m.json, args)
		}})
	}
	return append(list, entry{"new", jsonNew})
}()

func (m *machine) jsonConstants() { m.jsonNames(m.lib("cjson")) }

func (m *machine) jsonNames(t *table) {
	t.setString("null", m.nullJSON)
	t.setString("_NAME", str("cjson"))
	t.setString("_VERSION", str("2.1.0"))
}

// jsonNew makes a library with settings of its own.
func jsonNew(m *machine, args []value) []value {
	c := defaultJSON()
	t := m.newTable()
	m.grow(16 * (sizeNode + sizeClosure))
	for _, f := range jsonFunctions {
		t.setString(f.name, value{kind: kBuiltin, ref: &builtin{name: f.name,
			fn: func(m *machine, args []value) []value { return f.fn(m, &c, args) }}})
	}
	t.setString("new", value{kind: kBuiltin, ref: &builtin{name: "new", fn: jsonNew}})
	m.jsonNames(t)
	return m.one(tab(t))
}

func (m *machine) jsonArgs(args []value, n int) {
	if len(args) > n {
		m.argError(n+1, "found too many arguments")
	}
}

// jsonSetInt changes an integer setting if argument n is there.
func (m *machine) jsonSetInt(args []value, n int, setting *int64, least, most int64) {
	if n > len(args) || args[n-1].kind == kNil {
		return
	}
	v := m.checkInt(args, n)
	if v < least || v > most {
		m.argError(n, "expected integer between "+formatArg(float64(least))+" and "+formatArg(float64(most)))
	}
	*setting = v
}

func (m *machine) jsonInt(args []value, setting *int64, most int64) []value {
	m.jsonArgs(args, 1)
	m.jsonSetInt(args, 1, setting, 1, most)
	return m.one(number(float64(*setting)))
}

// jsonOption changes a setting to one of the named, or to a boolean's.
func (m *machine) jsonOption(args []value, n int, setting *int, names ...string) value {
	if n <= len(args) && args[n-1].kind != kNil {
		if args[n-1].kind == kBool {
			*setting = int(args[n-1].num)
		} else {
			s := m.checkString(args, n)
			found := false
			for i, name := range names {
				if s == name {
					*setting, found = i, true
				}
			}
			if !found {
				m.argError(n, "invalid option '"+s+"'")
			}
		}
	}
	if *setting < 2 {
		return boolean(*setting == 1)
	}
	return str(names[*setting])
}

func (m *machine) jsonSetBool(args []value, n int, setting *bool) value {
	i := 0
	if *setting {
		i = 1
	}
	v := m.jsonOption(args, n, &i, "off", "on")
	*setting = i == 1
	return v
}

func (m *machine) jsonBool(args []value, setting *bool) []value {
	m.jsonArgs(args, 1)
	return m.one(m.jsonSetBool(args, 1, setting))
}

func jsonEncodeInvalid(m *machine, c *jsonConfig, args []value) []value {
	m.jsonArgs(args, 1)
	return m.one(m.jsonOption(args, 1, &c.encodeInvalid, "off", "on", "null"))
}

func jsonSparse(m *machine, c *jsonConfig, args []value) []value {
	m.jsonArgs(args, 3)
	convert := m.jsonSetBool(args, 1, &c.sparseConvert)
	m.jsonSetInt(args, 2, &c.sparseRatio, 0, 1<<31-1)
	m.jsonSetInt(args, 3, &c.sparseSafe, 0, 1<<31-1)
	m.ret = append(m.ret[:0], convert, number(float64(c.sparseRatio)), number(float64(c.sparseSafe)))
	return m.ret
}
