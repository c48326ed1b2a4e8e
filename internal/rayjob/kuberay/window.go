package kuberay

import (
	"fmt"
	"time"
)

// Window is a time of the day, every day, e.g. the night in which machines are free.
type Window struct {
	// From and Until are hours and minutes, "20:00"; a window may pass midnight.
	From  string `json:"from"`
	Until string `json:"until"`
	// Zone is a name of the time zone database, UTC where it is empty.
	Zone string `json:"zone,omitempty"`
}

const clock = "15:04"

func (w Window) validate() error {
	for _, text := range []string{w.From, w.Until} {
		if _, err := time.Parse(clock, text); err != nil {
			return fmt.Errorf("%q is no time of the day, e.g. 20:00", text)
		}
	}
	if w.From == w.Until {
		return fmt.Errorf("from and until are both %s", w.From)
	}
	if _, err := time.LoadLocation(w.Zone); err != nil {
		return fmt.Errorf("zone: %q is not in the time zone database", w.Zone)
	}
	return nil
}

// opens returns how long it is from now until the window opens; 0 where it is open. The window must be valid.
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
