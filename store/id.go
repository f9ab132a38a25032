package store

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
	"time"
)

// idTime is the sortable part of a run's id: UTC, to the second.
const idTime = "20060102T150405"

// NewRunID makes an id that sorts by time: 20261130T230125-k3v9qa. Its random part has 30 bits.
func NewRunID(now time.Time) string {
	return now.UTC().Format(idTime) + "-" + randomText(6)
}

// NewScheduleID makes a random id of 40 bits for a schedule.
func NewScheduleID() string { return randomText(8) }

// randomText gives n characters of five random bits each, without those that look alike.
func randomText(n int) string {
	b := make([]byte, (n*5+7)/8)
	rand.Read(b) // never fails (Go 1.24)
	alphabet := base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)
	return alphabet.EncodeToString(b)[:n]
}

// isID tells whether s may be an id: it names a folder, so nothing but letters, digits and inner - _ .
func isID(s string) bool {
	if s == "" || len(s) > 64 || s[0] == '.' || s[0] == '-' {
		return false
	}
	return strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") == ""
}
