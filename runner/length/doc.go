// Package length finds out how a server counts prompts, so that they can be made of exactly so many tokens: by token ids that its tokenizer
// gave, by words that count one token each, or by the ratio of text to tokens. It asks the server's /tokenize where there is one, and else
// looks at the usage of a few requests for a single token. Nothing is asked once the load has begun.
//
// To add a way: a file with what it finds and a line in Find.
package length
