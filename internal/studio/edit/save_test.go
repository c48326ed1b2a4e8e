package edit

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
)

func TestASaveNamesTheVersionThatItsTextCameFrom(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	opened := f.do(alice, http.MethodGet, f.api("files", f.file), "")
	require.Equal(t, 200, opened.status, opened.body)
	first := opened.header.Get("ETag")
	require.Regexp(t, `^"1-[0-9a-f]+"$`, first)
	require.Contains(t, opened.json["text"], "epochs: 5")

	saved := f.save(alice, first, "epochs: 6\n")
	require.Equal(t, 200, saved.status, saved.body)
	require.EqualValues(t, 2, saved.json["number"])
	require.Regexp(t, `^"2-`, saved.header.Get("ETag"))
	require.Equal(t, "epochs: 6\n", f.text(f.file))

	refused := f.save(bob, first, "epochs: 7\n")
	require.Equal(t, 412, refused.status, refused.body)
	require.Equal(t, "version-changed", refused.json["type"])
	newest, _ := refused.json["newest"].(map[string]any)
	require.Equal(t, []any{2.0, alice, "epochs: 6\n", true}, []any{newest["number"], newest["by"], newest["text"], newest["text_known"]})
	require.Contains(t, refused.json["detail"], "alice@example.org saved version 2 at")
	require.Contains(t, refused.json["do"], "Merge")

	merged := f.save(bob, `"`+newest["tag"].(string)+`"`, "epochs: 7\n")
	require.Equal(t, 200, merged.status, merged.body)
	require.Equal(t, []string{"1 " + alice, "2 " + alice, "3 " + bob}, f.clowder.Versions(f.file))

	again := f.save(bob, merged.header.Get("ETag"), "epochs: 7\n")
	require.Equal(t, 200, again.status)
	require.Equal(t, true, again.json["unchanged"])
	require.Len(t, f.clowder.Versions(f.file), 3, "the same text is no new version")
}

func TestASaveThatCannotBeIsRefusedWithAReason(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	tag := f.tag()
	for name, c := range map[string]struct {
		who, tag, text string
		status         int
		kind           string
	}{
		"no version":          {alice, "", "x", 428, "version-missing"},
		"an invented version": {alice, `"9-x"`, "x", 412, "version-changed"},
		"a viewer":            {carol, tag, "x", 403, "forbidden"},
		"an uploader":         {erin, tag, "x", 403, "forbidden"},
		"nobody":              {dave, tag, "x", 404, "not-found"},
		"no text":             {alice, tag, "a\x00b", 422, "text"},
		"too much":            {alice, tag, strings.Repeat("x", maxText+1), 413, "text"},
		"an open conflict":    {alice, tag, "a\n<<<<<<< mine\nb\n=======\nc\n>>>>>>> theirs\n", 422, "conflict-marks"},
	} {
		got := f.save(c.who, c.tag, c.text)
		require.Equal(t, c.status, got.status, name+got.body)
		require.Equal(t, c.kind, got.json["type"], name)
		require.Equal(t, "application/problem+json", got.header.Get("Content-Type"), name)
	}
	byKey := f.do(alice, http.MethodPut, f.api("files", f.file), `{"text":"x"}`, "If-Match", tag, "By-Key", "yes")
	require.Equal(t, 403, byKey.status)
	require.Equal(t, "read-only", byKey.json["type"])
	require.Contains(t, byKey.json["detail"], "Keycloak")
	require.Len(t, f.clowder.Versions(f.file), 1)

	other := f.clowder.AddDataset(alice, "another")
	foreign, err := f.clowder.AddFile(other, "x.yaml", strings.NewReader("a: 1\n"))
	require.NoError(t, err)
	require.Equal(t, 404, f.do(alice, http.MethodGet, f.api("files", foreign), "").status, "a file of another dataset is not in this one")
	picture := f.add("a.png", "png")
	require.Equal(t, 404, f.do(alice, http.MethodGet, f.api("files", picture), "").status)
	f.clowder.Publish(f.file)
	require.Equal(t, 403, f.save(alice, tag, "x").status, "a published file takes no version")
}

func TestTwentySavesAtOnceMakeOneVersion(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	tag := f.tag()
	var mu sync.Mutex
	var group sync.WaitGroup
	count := map[int]int{}
	for i := range 20 {
		group.Go(func() {
			got := f.save([]string{alice, bob}[i%2], tag, fmt.Sprintf("seed: %d\n", i))
			mu.Lock()
			defer mu.Unlock()
			count[got.status]++
		})
	}
	group.Wait()
	require.Equal(t, map[int]int{200: 1, 412: 19}, count)
	require.Len(t, f.clowder.Versions(f.file), 2)
}

func TestASaveInClowderInTheSameInstantIsTold(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	for name, lastFirst := range map[string]bool{"the rows in the order of the texts": false, "the rows in the other order": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			tag := f.tag()
			f.clowder.RaceUpdates(2, lastFirst)
			var group sync.WaitGroup
			group.Go(func() { require.NoError(t, f.direct(bob, "epochs: 99\n")) })
			got := f.save(alice, tag, "epochs: 6\n")
			group.Wait()
			require.Equal(t, 200, got.status, got.body)
			if f.clowder.Versions(f.file)[2] == "2 "+bob && got.json["collision"] == nil {
				require.True(t, f.twice(), "the other row came after the look: the history shows it")
				return
			}
			other, _ := got.json["collision"].(map[string]any)
			require.Equal(t, []any{2.0, bob}, []any{other["number"], other["by"]})
			if other["text_known"] == true {
				require.Equal(t, "epochs: 99\n", other["text"])
			}
			require.True(t, f.twice())
		})
	}
}

// twice reports whether the history says that two versions have one number.
func (f *fixture) twice() bool {
	f.t.Helper()
	list, _ := f.do(alice, http.MethodGet, f.api("files", f.file, "versions"), "").json["versions"].([]any)
	for _, v := range list {
		if row, _ := v.(map[string]any); row["same_number"] == true {
			return true
		}
	}
	return false
}

func TestAVersionBetweenTheLookAndTheSaveIsTold(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	tag := f.tag()
	done := make(chan error, 1)
	// The section has read the state and waits for the text: now somebody saves in Clowder.
	f.clowder.Fail(clowdertest.Fault{Method: http.MethodPut, Path: "/files/", Times: 1, Status: 503, Body: "{}", After: true})
	go func() { done <- f.direct(bob, "epochs: 99\n") }()
	require.Error(t, <-done, "Clowder fails after it has stored the version")
	require.Equal(t, 412, f.save(alice, tag, "epochs: 6\n").status)
	require.Len(t, f.clowder.Versions(f.file), 2)
}

func TestAnAnswerThatGotLostIsLookedUp(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	tag := f.tag()
	f.clowder.Fail(clowdertest.Fault{Method: http.MethodPut, Path: "/files/", Times: 1, Status: 500, After: true})
	got := f.save(alice, tag, "epochs: 6\n")
	require.Equal(t, 200, got.status, got.body)
	require.EqualValues(t, 2, got.json["number"])
	f.clowder.Fail(clowdertest.Fault{Method: http.MethodPut, Path: "/files/", Times: 1, Status: 500})
	got = f.save(alice, got.header.Get("ETag"), "epochs: 7\n")
	require.Equal(t, 502, got.status, got.body)
	require.Equal(t, "epochs: 6\n", f.text(f.file))
}
