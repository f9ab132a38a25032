package api

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// The limits of one page of a list.
const (
	defaultLimit = 50
	maxLimit     = 200
)

// Page is one page of a list; Next is the cursor of the page after it, null at the end.
type Page[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

// newPage converts rows to their wire form.
func newPage[R, T any](rows []R, next string, convert func(R) T) Page[T] {
	p := Page[T]{Items: make([]T, 0, len(rows))}
	for _, r := range rows {
		p.Items = append(p.Items, convert(r))
	}
	if next != "" {
		p.Next = &next
	}
	return p
}

// limitOf reads ?limit=; more than maxLimit is cut to it, as the caller sees from next.
func limitOf(c echo.Context) (int, error) {
	text := c.QueryParam("limit")
	if text == "" {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, refuse(http.StatusBadRequest, "bad_limit", "Give a whole number from 1 to "+strconv.Itoa(maxLimit)+".", "limit=%q is not a count", text)
	}
	return min(n, maxLimit), nil
}
