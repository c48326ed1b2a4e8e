package message_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
)

// sent is a published status and its time since the start.
type sent struct {
	text string
	at   time.Duration
}

// drain calls Next until nothing is queued, and waits as Next returns.
func drain(throttle *message.Throttle, start time.Time) []sent {
	var out []sent
	for {
		s, wait, ok := throttle.Next(time.Now())
		switch {
		case ok:
			throttle.Sent(time.Now())
			out = append(out, sent{s.Text, time.Since(start)})
		case wait == 0:
			return out
		default:
			<-time.After(wait)
		}
	}
}

func line(kind message.StatusKind, text string) message.Status {
	return message.Status{Kind: kind, Text: text}
}

func progress(text string) message.Status {
	return message.Status{Kind: message.StatusProcessing, Text: text, Progress: true}
}

func TestThrottleSpacesStatusesAndEndsWithTheTerminalOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var throttle message.Throttle
		start := time.Now()
		require.True(t, throttle.Offer(line(message.StatusStart, "start")))
		require.True(t, throttle.Offer(progress("1 %")))
		require.True(t, throttle.Offer(progress("2 %")))
		require.True(t, throttle.Offer(line(message.StatusProcessing, "uploading")))
		require.True(t, throttle.Offer(progress("99 %")))
		require.False(t, throttle.Finished())
		require.True(t, throttle.Offer(line(message.StatusDone, "end")))
		require.False(t, throttle.Offer(line(message.StatusError, "late")))
		require.False(t, throttle.Offer(progress("later")))
		require.Equal(t, []sent{{"start", 0}, {"uploading", time.Second}, {"end", 2 * time.Second}}, drain(&throttle, start))
		require.True(t, throttle.Finished())
	})
}

func TestThrottleSlowsProgressButNotPhases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var throttle message.Throttle
		start := time.Now()
		throttle.Offer(progress("1"))
		require.Equal(t, []sent{{"1", 0}}, drain(&throttle, start))
		throttle.Offer(progress("2"))
		throttle.Offer(progress("3"))
		require.Equal(t, []sent{{"3", 3 * time.Second}}, drain(&throttle, start))
		throttle.Offer(progress("4"))
		throttle.Offer(line(message.StatusProcessing, "phase"))
		require.Equal(t, []sent{{"phase", 4 * time.Second}}, drain(&throttle, start))
		for range 9 {
			throttle.Offer(progress("more"))
			drain(&throttle, start)
		}
		before := time.Since(start)
		throttle.Offer(progress("eleventh"))
		require.Equal(t, []sent{{"eleventh", before + 10*time.Second}}, drain(&throttle, start))
	})
}

func TestThrottleKeepsALongJobReadable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var throttle message.Throttle
		lines := 0
		for start := time.Now(); time.Since(start) < 10*time.Hour; {
			throttle.Offer(progress("x"))
			lines += len(drain(&throttle, start))
		}
		require.Less(t, lines, 520)
	})
}

func TestThrottleRepeatsWhatWasNotSent(t *testing.T) {
	t.Parallel()
	var throttle message.Throttle
	throttle.Offer(line(message.StatusStart, "start"))
	now := time.Unix(0, 0)
	first, _, _ := throttle.Next(now)
	again, _, ok := throttle.Next(now)
	require.True(t, ok)
	require.Equal(t, first, again)
}

func TestThrottleReplacesPassingLinesThatAreNotInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var throttle message.Throttle
		start := time.Now()
		doing := func(text string) message.Status {
			return message.Status{Kind: message.StatusProcessing, Text: text, Passing: true}
		}
		for _, s := range []message.Status{line(message.StatusStart, "start"), doing("downloading"), doing("submitted"), line(message.StatusProcessing, "note")} {
			require.True(t, throttle.Offer(s))
		}
		require.Equal(t, []sent{{"start", 0}, {"note", time.Second}}, drain(&throttle, start))

		require.True(t, throttle.Offer(doing("uploading")))
		<-time.After(time.Second)
		s, _, ok := throttle.Next(time.Now())
		require.True(t, ok)
		require.Equal(t, "uploading", s.Text)
		require.True(t, throttle.Offer(line(message.StatusDone, "end")), "while the other is on its way")
		throttle.Sent(time.Now())
		require.False(t, throttle.Finished(), "the terminal status was not sent yet")
		require.Equal(t, []sent{{"end", 3 * time.Second}}, drain(&throttle, start))
	})
}

func TestThrottleDropsTheOldestOfTooMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var throttle message.Throttle
		throttle.Offer(line(message.StatusStart, "start"))
		for i := range 20 {
			throttle.Offer(line(message.StatusProcessing, strconv.Itoa(i)))
		}
		throttle.Offer(line(message.StatusDone, "end"))
		out := drain(&throttle, time.Now())
		require.Len(t, out, 8)
		require.Equal(t, "start", out[0].text)
		require.Equal(t, "end", out[7].text)
	})
}

func note(text string) message.Status {
	return message.Status{Kind: message.StatusProcessing, Text: text, Note: true}
}

func TestNotesThatWaitAreSentAsOneStatus(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 180)
	for name, tc := range map[string]struct {
		offered []message.Status
		want    []string
	}{
		"nine notes at the start": {
			[]message.Status{
				line(message.StatusStart, "start"), note("one"), note("two."), note("three"), note("four"), note("five"), note("six"), note("seven"), note("eight"), note("nine"),
				progress("1 %"),
			},
			[]string{"start", "one. two. three. four. five. six. seven. eight. nine", "1 %"},
		},
		"a line that is not passing keeps its status and its order": {
			[]message.Status{line(message.StatusProcessing, "line"), note("one"), line(message.StatusProcessing, "other"), note("two"), note("three")},
			[]string{"line", "one", "other", "two. three"},
		},
		"an end takes notes over and does not wait for them": {
			[]message.Status{line(message.StatusStart, "start"), note("one"), note("two"), line(message.StatusDone, "end")},
			[]string{"start", "one. two. end"},
		},
		"an end keeps its length": {
			[]message.Status{note(long), line(message.StatusError, "it failed for a reason")},
			[]string{long, "it failed for a reason"},
		},
		"an end does not take over a line": {
			[]message.Status{line(message.StatusProcessing, "line"), line(message.StatusDone, "end")},
			[]string{"line", "end"},
		},
		"a text has a limit, and no note is lost": {
			[]message.Status{note(long), note(long), note(long), note(long)},
			[]string{long + ". " + long + ". " + long, long},
		},
		"a single note is no longer than any other status": {
			[]message.Status{note(strings.Repeat("y", 300)), note("two")},
			[]string{strings.Repeat("y", 199) + "… two"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var throttle message.Throttle
				for _, s := range tc.offered {
					require.True(t, throttle.Offer(s))
				}
				var texts []string
				for _, s := range drain(&throttle, time.Now()) {
					texts = append(texts, s.text)
				}
				require.Equal(t, tc.want, texts)
			})
		})
	}
}

func TestANoteJoinsNoStatusThatIsBeingSent(t *testing.T) {
	t.Parallel()
	var throttle message.Throttle
	throttle.Offer(note("one"))
	s, _, ok := throttle.Next(time.Unix(1, 0))
	require.True(t, ok)
	require.Equal(t, "one", s.Text)
	throttle.Offer(note("two"))
	throttle.Offer(note("three"))
	throttle.Sent(time.Unix(1, 0))
	s, _, ok = throttle.Next(time.Unix(2, 0))
	require.True(t, ok)
	require.Equal(t, "two. three", s.Text)
}

func TestAnEndTakesNoNoteThatIsBeingSent(t *testing.T) {
	t.Parallel()
	var throttle message.Throttle
	throttle.Offer(note("one"))
	_, _, ok := throttle.Next(time.Unix(1, 0))
	require.True(t, ok)
	throttle.Offer(line(message.StatusDone, "end"))
	throttle.Sent(time.Unix(1, 0))
	s, _, ok := throttle.Next(time.Unix(2, 0))
	require.True(t, ok)
	require.Equal(t, "end", s.Text)
}

func TestJoinedNotesArriveWhole(t *testing.T) {
	t.Parallel()
	joined := strings.Repeat("A note about the data. ", 20)
	body := string(message.EncodeStatus(job.Request{JobID: "j", APIVersion: 2}, "x", note(strings.TrimSpace(joined))))
	require.Contains(t, body, strings.TrimSpace(joined))
}
