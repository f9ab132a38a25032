package report

import _ "embed"

//go:embed style.css
var stylesheet string

// Stylesheet is the one stylesheet of the report and the web page; its first comment lists the classes it offers.
func Stylesheet() string { return stylesheet }
