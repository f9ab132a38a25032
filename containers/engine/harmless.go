package engine

import "strings"

// harmless tells a line that holds the words of a failure and is none: what the server was started with, which names every option; what is
// told for information; what is tried again; a source line of a traceback.
func harmless(line string) bool {
	dumps := []string{"non-default args:", "with config:", "server_args=", "ServerArgs(", "Namespace(", "EngineArgs("}
	again := []string{"etrying", "will retry", "trying port", "rying again", "Trying to resume", "alling back", "fallback to"}
	return ContainsAny(line, dumps) || ContainsAny(line, again) || level(line) == "INFO" || strings.Contains(line, `File "`) && strings.Contains(line, `, line `)
}

// warns tells a line by which a server may go on.
func warns(line string) bool {
	if ContainsAny(line, []string{"NCCL WARN", "RCCL WARN"}) { // their only word for a failure
		return false
	}
	return level(line) == "WARNING" || strings.Contains(line, "Warning:")
}

// level is the weight that a line gives itself, as the servers spell it: a word near its beginning, or a letter after the time.
func level(line string) string {
	for i, word := range strings.Fields(line) {
		if i == 8 {
			break
		}
		word = strings.TrimPrefix(strings.TrimSuffix(word, ":"), "level=")
		switch {
		case word == "ERROR", word == "[E]", word == "E" && i == 1:
			return "ERROR"
		case word == "WARNING", word == "WARN", word == "[W]", word == "W" && i == 1:
			return "WARNING"
		case word == "INFO", word == "DEBUG", word == "[I]", word == "[V]", (word == "I" || word == "D") && i == 1:
			return "INFO"
		}
	}
	return ""
}

// isUp tells the line by which a server says that it serves.
func isUp(line string) bool {
	return ContainsAny(line, []string{"Application startup complete", "Uvicorn running on", "server is listening on", "llama_server: listening on", "The server is fired up and ready to roll"})
}
