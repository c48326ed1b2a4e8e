package web

import (
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/text"
)

// Ago says how long something is past: "just now", "5 min ago", "yesterday".
func Ago(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return text.Number(int(d.Minutes())) + " min ago"
	case d < day:
		return text.Number(int(d.Hours())) + " h ago"
	case d < 2*day:
		return "yesterday"
	default:
		return text.Number(int(d.Hours()/24)) + " days ago"
	}
}

// Person is the part of an e-mail address that names its owner.
func Person(email string) string {
	name, _, _ := strings.Cut(email, "@")
	return name
}
