// Hello is a tiny inference server for tests of containers: it answers as an engine does, says what it sees of its surroundings,
// and ends when it is told to.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	args := map[string]string{}
	for i := 1; i+1 < len(os.Args); i += 2 {
		args[os.Args[i]] = os.Args[i+1]
	}
	fmt.Println("stdout: hello")
	fmt.Fprintln(os.Stderr, "stderr: hello", os.Getenv("GREETING"))
	if b, err := os.ReadFile(args["--read"]); err == nil {
		fmt.Printf("read: %s\n", b)
	}
	if err := os.WriteFile(args["--write"], nil, 0o644); err != nil {
		fmt.Println("write:", err)
	}
	if args["--exit"] != "" {
		fmt.Println("torch.OutOfMemoryError: HIP out of memory")
		os.Exit(7)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version":"hello"}`) })
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[{"id":"hello"}]}`) })
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n")
	})
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() {
		<-term
		fmt.Println("stopping")
		os.Exit(0)
	}()
	fmt.Println(http.ListenAndServe(args["--host"]+":"+args["--port"], mux))
	os.Exit(1)
}
