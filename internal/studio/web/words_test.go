package web

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestATimeIsSaidInWords(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for past, want := range map[time.Duration]string{
		-time.Hour: "just now", // the clock of another machine is ahead
		0:          "just now", time.Minute - 1: "just now",
		time.Minute: "1 min ago", time.Hour - 1: "59 min ago",
		time.Hour: "1 h ago", day - 1: "23 h ago",
		day: "yesterday", 2*day - 1: "yesterday",
		2 * day: "2 days ago", 3*day - 1: "2 days ago", 1234 * day: "1,234 days ago",
	} {
		require.Equal(t, want, Ago(past), past)
	}
}

func TestWhatAllTemplatesMayCall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	berlin := time.Date(2026, 11, 24, 0, 30, 0, 0, time.FixedZone("CET", 3600))
	for text, want := range map[string]string{
		`{{iso .}}`:                           "2026-11-23T23:30:00Z",
		`{{datetime .}}`:                      "2026-11-23 23:30 UTC",
		`{{percent 0.995}}`:                   "100",
		`{{percent 0.004}}`:                   "0",
		`{{person "alice@example.org"}}`:      "alice",
		`{{clowder}}`:                         "https://clowder.example.org/",
		`{{clowder "datasets" "1"}}`:          "https://clowder.example.org/datasets/1",
		`{{link "a b" "ü?"}}`:                 "/ray/a%20b/%C3%BC%3F",
		`{{short "sha256:0123456789abcdef"}}`: "sha256:0123…",
		`{{short "0123456789ab"}}`:            "0123456789ab",
	} {
		w := httptest.NewRecorder()
		s.parse(`{{define "content"}}<p>`+text+`</p>{{end}}`).Show(w, request(t, "/", nil), 200, View{Data: berlin})
		require.Contains(t, w.Body.String(), "<p>"+want+"</p>", text)
	}
}
