// Package machine tells a SUT: as a summary of sentences with their sources (Summarise), as the list of every fact (Facts), as text for
// a terminal (WriteText), and the checks on it as a doctor's report (WriteChecks).
//
// Facts walks the document's type: a field added to a probe is listed without a change here. To say it in the summary too, add a line to
// the chapter it belongs to (summary.go).
package machine
