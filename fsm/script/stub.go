package script

import "math"

type jsonConfig struct{}

func defaultJSON() jsonConfig     { return jsonConfig{} }
func pow(x, y float64) float64    { return math.Pow(x, y) }
func (m *machine) mathConstants() {}
func (m *machine) jsonConstants() {}

var stringLibrary, tableLibrary, mathLibrary, bitLibrary, jsonLibrary []entry
