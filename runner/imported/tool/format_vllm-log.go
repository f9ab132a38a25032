package tool

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"assay/runner/imported/files"
)

// vllmLog is what `vllm bench serve` prints at its end, in a log of any length: for many runs it is all that was kept.
func vllmLog() Format {
	return Format{Name: "vllm-log", Tool: "vllm bench serve", Poor: true, Read: readVLLMLog, Looks: func(head string) bool {
		return strings.Contains(head, vllmBlock) && strings.Contains(head, "TTFT (ms):") && !strings.HasPrefix(strings.TrimSpace(head), "{")
	}}
}

// vllmBlock begins a block of figures.
const vllmBlock = "Serving Benchmark Result"

func readVLLMLog(src files.Source, _ Emit) (Report, error) {
	var r Report
	for _, name := range src.Files {
		err := src.Read(name, files.MaxDocument, func(in io.Reader) error {
			var f *vllmFile
			backend := "openai-chat" // the block does not say; a chat claims less
			end := func() {
				if f != nil {
					r.Points = append(r.Points, f.point(name))
				}
			}
			scan := bufio.NewScanner(in)
			scan.Buffer(make([]byte, 0, 1<<16), files.MaxLine)
			for scan.Scan() {
				if strings.Contains(scan.Text(), "/v1/completions") {
					backend = "openai"
				}
				if strings.Contains(scan.Text(), vllmBlock) && strings.Contains(scan.Text(), "===") {
					end()
					f = &vllmFile{Rate: "inf", Backend: backend, numbers: map[string]float64{}}
				} else if f != nil {
					f.printed(scan.Text())
				}
			}
			end()
			return scan.Err()
		})
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// printed takes a line such as "Mean TTFT (ms):      55.02".
func (f *vllmFile) printed(line string) {
	label, text, ok := strings.Cut(line, ":")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if !ok || err != nil {
		return
	}
	label = strings.ToLower(strings.TrimSpace(label))
	key := map[string]string{
		"successful requests": "completed", "failed requests": "failed", "benchmark duration (s)": "duration", "total input tokens": "total_input_tokens",
		"total generated tokens": "total_output_tokens", "request throughput (req/s)": "request_throughput",
		"output token throughput (tok/s)": "output_throughput", "total token throughput (tok/s)": "total_token_throughput",
	}[label]
	if words := strings.Fields(label); key == "" && len(words) == 3 && words[2] == "(ms)" {
		key = words[0] + "_" + words[1] + "_ms"
	}
	switch {
	case strings.HasPrefix(label, "maximum request concurrency"):
		n := int(v)
		f.Concurrency = &n
	case strings.HasPrefix(label, "request rate configured"):
		f.Rate = v
	case key != "":
		f.numbers[key] = v
	}
}
