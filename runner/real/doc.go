// Package real holds tests alone: our client against real inference servers, whose own counters and slots say what really happened. The
// same tests run on each: on llama.cpp's server wherever `make setup` could get it, on vLLM where ASSAY_VLLM names its folder (`make
// test-heavy`).
//
// To add an engine: a function like llamaCpp or vLLM, and a test that hands it to common.
package real
