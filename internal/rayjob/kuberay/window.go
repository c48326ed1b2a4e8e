package kuberay

import (
	"fmt"
	"time"
)

// Window is a daily time window, e.g. the night, when nodes are free.
type Window struct {
	// From and Until are times of the day, "20:00"; a window may span midnight.
	From  string `json:"from"`
	Until string `json:"until"`
	// Zone is a name in the time zone database; empty means UTC.
	Zone string `json:"zone,omitempty"`
}

const clock = "15:04"

func (w Window) validate() error {
	for _, text := range []string{w.From, w.Until} {
		if _, err := time.Parse(clock, text); err != nil {
			return fmt.Errorf("%q is not a time of the day such as 20:00", text)
		}
	}
	if w.From == w.Until {
		return fmt.Errorf("from and until are both %s: set different times", w.From)
	}
	if _, err := time.LoadLocation(w.Zone); err != nil {
		return fmt.Errorf("zone: %q is not in the time zone database", w.Zone)
	}
	return nil
}

// opens returns the time until the window opens; 0 if it is open. The window must be valid.
func (w Window) opens(now time.Time) time.Duration {
	zone, err := time.LoadLocation(w.Zone)
	if err != nil {
		return 0
	}
	now = now.In(zone)
	at := func(text string) time.Time {
		t, _ := time.Parse(clock, text)
		return time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, zone)
	}
	from, until := at(w.From), at(w.Until)
	open := !now.Before(from) && now.Before(until)
	if until.Before(from) {
		open = !now.Before(from) || now.Before(until)
	}
	switch {
	case open:
		return 0
	case now.Before(from):
		return from.Sub(now)
	default:
		return from.AddDate(0, 0, 1).Sub(now)
	}
}
