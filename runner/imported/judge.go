package imported

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/plan"
	"assay/result"
	"assay/runner"
	"assay/runner/imported/tool"
)

// The limits of an imported point; the others are those of any point.
const (
	maxHidden   = 0.01 // of the requests that the tool counts as completed
	minActive   = 0.90 // of the load asked for, where the tool's own figures are all there is
	fairLength  = 8    // times the concurrency: a shorter run is half start and end
	maxOff      = 0.01 // between a figure of the tool and assay's of the same formula
	mostFigures = 3    // of those that are named
	minRate     = 0.95 // requests begun in a second over the rate asked for
	rateSigmas  = 3    // by chance the rate of Poisson's arrivals is off by so many standard deviations at most
)

// finding is a reason, and whether it makes the point not valid.
type finding struct {
	runner.Reason
	fatal bool
}

func found(fatal bool, code, text, evidence string, args ...any) *finding {
	return &finding{runner.Reason{Code: code, Text: text, Evidence: fmt.Sprintf(evidence, args...)}, fatal}
}

// judged is what the rules look at. made is nil where the file has no requests.
type judged struct {
	point   Point
	rate    float64 // requests begun in a second; 0 where that is not known
	made    *runner.Reading
	figures []Figure
}

// Judge says whether a point counts: by the rules of any point where its requests are known, and by what its tool says of them.
func Judge(p Point, rate float64, made *runner.Reading, figures []Figure) (state result.PointState, reasons []result.Reason) {
	if p.Over != "" {
		return result.PointOver, []result.Reason{{Code: "kv_precheck", Text: "the cell needs more KV cache than the engine has", Evidence: p.Over}}
	}
	state = result.PointValid
	add := func(r runner.Reason, fatal bool) {
		if fatal {
			state = result.PointNotValid
		}
		reasons = append(reasons, result.Reason(r))
	}
	if made != nil && !p.Unknown.Some {
		ruled, all := made.Verdict(planned(p), measurement(p, *made))
		for _, r := range all {
			add(r, ruled == runner.NotValid)
		}
	}
	for _, rule := range []func(judged) *finding{toldStopped, requestsMissing, toldFailed, toldUnderfilled, slow, failuresHidden, warmupIncluded, figuresDiffer} {
		if f := rule(judged{p, rate, made, figures}); f != nil {
			add(f.Reason, f.fatal)
		}
	}
	return state, reasons
}

// measurement is what the rules of any point need to know.
func measurement(p Point, made runner.Reading) runner.Measurement {
	m := runner.Measurement{Stopped: p.Stopped}
	m.Client.StampSource = made.Header.StampSource
	return m
}

func toldStopped(j judged) *finding {
	if j.made != nil || j.point.Stopped == "" {
		return nil
	}
	return found(true, "stopped_early", "issue ended before the plan's end of the point", "%s", j.point.Stopped)
}

// requestsMissing: what cannot be made again from requests cannot be checked, and is no result.
func requestsMissing(j judged) *finding {
	text := "the tool's file does not hold every request: what it printed stands as told and cannot be checked"
	issued := ""
	if n := j.point.Told.Issued; n != nil {
		issued = fmt.Sprintf(" of %d", *n)
	}
	if j.made == nil {
		return found(true, "requests_missing", text, "none%s", issued)
	}
	if !j.point.Unknown.Some {
		return nil
	}
	return found(true, "requests_missing", text, "%d%s", measured(*j.made), issued)
}

// toldFailed counts failures by the tool's own word, where its requests cannot be counted.
func toldFailed(j judged) *finding {
	told := j.point.Told
	if j.made != nil && !j.point.Unknown.Some || told.Failed == nil {
		return nil
	}
	ended := *told.Failed
	if told.Completed != nil {
		ended += *told.Completed
	}
	if told.Issued != nil {
		ended = *told.Issued
	}
	if *told.Failed == 0 {
		return nil
	}
	return found(float64(*told.Failed) > 0.01*float64(ended), "errors", "requests failed", "%d of %d, as the tool counts them", *told.Failed, ended)
}

// toldUnderfilled holds the tool's own figures against the load it was asked for. Start and end of a short run are most of it.
func toldUnderfilled(j judged) *finding {
	asked, told := float64(j.point.Setting.Concurrency), j.point.Told
	if j.made != nil && !j.point.Unknown.Some || told.Active == nil || asked == 0 {
		return nil
	}
	if told.Issued != nil && *told.Issued < fairLength*j.point.Setting.Concurrency || *told.Active >= minActive*asked {
		return nil
	}
	return found(true, "underfilled", "fewer requests were in flight than asked for", "%.2f on average by the tool's own figures, of %.0f", *told.Active, asked)
}

// slow tells of an open loop that began fewer requests in a second than its rate, by more than chance explains.
func slow(j judged) *finding {
	asked := j.point.Setting.Rate
	if j.made == nil || j.point.Unknown.Some || j.rate == 0 || asked == 0 {
		return nil
	}
	chance := rateSigmas / math.Sqrt(float64(max(j.made.Requests, 1)))
	if j.rate >= asked*min(minRate, 1-chance) {
		return nil
	}
	return found(true, "client_underload", "the client made less load than it was asked for", "%.3g requests a second by its own records, of the %.3g asked for", j.rate, asked)
}

// failuresHidden compares what the tool counts as completed with what ended well, and with what brought a token.
func failuresHidden(j judged) *finding {
	if j.made == nil || j.made.MLPerf == nil || j.point.Unknown.Some {
		return nil
	}
	whole := j.made.MLPerf
	hidden, empty := 0, whole.RequestsCompleted
	if n := j.point.Told.Completed; n != nil && warmupIncluded(j) == nil {
		hidden = max(0, *n-whole.RequestsCompleted)
	}
	if whole.TTFTMS != nil {
		empty -= int(whole.TTFTMS.N)
	}
	if hidden == 0 && empty <= 0 {
		return nil
	}
	all := max(1, hidden+whole.RequestsCompleted)
	return found(float64(hidden+empty) > maxHidden*float64(all), "failures_hidden", "the tool counts requests as completed that came to nothing",
		"%d that failed and %d without a token, of %d%s", hidden, empty, all, ending(j.made.Said.Count(whole.Outcomes)))
}

// ending puts what is known behind a colon.
func ending(known string) string {
	if known == "" {
		return ""
	}
	return ": " + known
}

// warmupIncluded: the tool's count is that of all requests in its file, warm-up too.
func warmupIncluded(j judged) *finding {
	if j.made == nil || j.point.Told.Issued == nil || j.made.MLPerf == nil {
		return nil
	}
	own, all := j.made.MLPerf.RequestsIssued, j.made.Requests
	if all == own || *j.point.Told.Issued != all {
		return nil
	}
	return found(true, "warmup_included", "the tool's figures hold its warm-up", "%d requests of %d", all-own, all)
}

// figuresDiffer compares means and plain numbers: percentiles of few samples differ by the way they are made.
func figuresDiffer(j judged) *finding {
	if j.point.Unknown.Some {
		return nil
	}
	var far []string
	for _, f := range j.figures {
		if (f.Statistic == "" || f.Statistic == "mean") && off(f) > maxOff {
			far = append(far, fmt.Sprintf("%s %s, %s %s", f.Name, tool.Short(f.Value), f.Metric, tool.Short(*f.Assay)))
		}
	}
	if len(far) == 0 {
		return nil
	}
	slices.Sort(far)
	if n := len(far); n > mostFigures {
		far = append(far[:mostFigures], fmt.Sprintf("and %d more", n-mostFigures))
	}
	return found(false, "figures_differ", "figures of the tool differ from those of its own requests by the same formula", "%s", strings.Join(far, "; "))
}

func measured(r runner.Reading) int {
	if r.MLPerf == nil {
		return 0
	}
	return r.MLPerf.RequestsIssued
}

// planned is a point as the rules of any point know it: without a load to hold where slots waited for tools nobody knows how long.
func planned(p Point) plan.Point {
	at := p.Setting
	if p.Unknown.Waits {
		at.Concurrency = 0
	}
	return at
}
