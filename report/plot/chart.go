package plot

// Datum is a point of a chart.
type Datum struct {
	X, Y      float64
	Name      string // stands beside it: "C384"
	Hover     string
	Best, Off bool // Off: the point is not valid
}

// Line is a line of a chart. A chart with several names each line at its end.
type Line struct {
	Name string
	Data []Datum
}

// Chart is what a plot shows, before any drawing.
type Chart struct {
	Title, Note  string
	XName, YName string
	Series       []Line
	Missing      []string // points without a value
}
