package progress

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
)

// run is the run of these tests.
const run = "ft-one"

// flood writes lines into the event log of a run until there are n of them.
func flood(t *testing.T, folder disk.Folder, n int, line func(i int) string) {
	t.Helper()
	root, err := folder.Make()
	require.NoError(t, err)
	require.NoError(t, root.Close())
	f, err := os.Create(filepath.Join(folder.Path(), results.EventsFile))
	require.NoError(t, err)
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
		if b.Len() > 1<<20 || i == n-1 {
			_, err := io.WriteString(f, b.String())
			require.NoError(t, err)
			b.Reset()
		}
	}
	require.NoError(t, f.Close())
}

func TestManyEventsTakeLittleMemoryAndFewSentences(t *testing.T) {
	// It measures the memory of the process, so it runs alone.
	folder := disk.Folder{Volume: t.TempDir(), Name: "runs/" + run}
	long := strings.Repeat("ö", 200)
	kinds := []string{
		`{"time":%q,"attempt":1,"kind":"warning","code":"c%d","text":"note %d %s"}`,
		`{"time":%q,"attempt":1,"kind":"decision","what":"task","choice":"x%d","why":"because of %d %s"}`,
		`{"time":%q,"attempt":1,"kind":"eval","split":"validation","epoch":1,"metrics":{"m%d":1,"n%d":2,"%s":3}}`,
		`{"time":%q,"attempt":99,"kind":"warning","code":"c%d","text":"of an attempt that is none %d %s"}`,
		`{"time":%q,"attempt":1,"kind":"phase","phase":"p%d","text":"%d %s"}`,
	}
	now := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	flood(t, folder, 50_000, func(i int) string { return fmt.Sprintf(kinds[i%len(kinds)], now, i, i, long[:i%100*2]) })

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f := NewFollower(func(string) disk.Folder { return folder })
	var news []string
	looks := 0
	for last, offset := int64(-1), int64(0); last != offset; looks++ {
		last = offset
		progress, told, err := f.Read(run, 1)
		require.NoError(t, err)
		require.LessOrEqual(t, len(progress.Warnings)+len(progress.Decisions), 200)
		news = append(news, told...)
		offset = f.logs[run].tail.Offset
		require.LessOrEqual(t, offset-max(0, last), int64(readsAtOnce<<20), "one look reads a part only")
	}
	require.Greater(t, looks, 2)
	require.Len(t, news, maxNotes)
	for _, text := range news {
		require.NotContains(t, text, "an attempt that is none")
		require.Less(t, len(text), 1100)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(16<<20))
	runtime.KeepAlive(f)
}

func TestAScriptIsFollowed(t *testing.T) {
	t.Parallel()
	folder := disk.Folder{Volume: t.TempDir(), Name: "runs/" + run}
	now := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	lines := []string{
		`{"time":"` + now + `","attempt":1,"kind":"phase","phase":"prepare","text":"Looking at the code."}`,
		`{"time":"` + now + `","attempt":1,"kind":"decision","what":"script","choice":"train.py","why":"train.py is started because of its name."}`,
		`{"time":"` + now + `","attempt":1,"kind":"finding","id":"B102","file":"a.py","line":3,"severity":"medium","text":"Use of exec detected."}`,
		`{"time":"` + now + `","attempt":1,"kind":"finding","id":"B103","file":"a.py","line":7,"severity":"high","text":"chmod 777."}`,
		`{"time":"` + now + `","attempt":1,"kind":"started","start":1}`,
		`{"time":"` + now + `","attempt":1,"kind":"progress","epoch":1,"epochs":4,"fraction":0.25}`,
		`{"time":"` + now + `","attempt":1,"kind":"scalar","name":"val_loss","step":10,"value":1.5}`,
		`{"time":"` + now + `","attempt":1,"kind":"scalar","name":"lr","step":11,"value":0.1}`,
	}
	flood(t, folder, len(lines), func(i int) string { return lines[i] })
	f := NewFollower(func(string) disk.Folder { return folder })
	progress, notes, err := f.Read(run, 1)
	require.NoError(t, err)
	require.Equal(t, "the script runs: epoch 1 of 4, 25 %, val_loss 1.5", progress.Sentence())
	require.Equal(t, []string{"train.py is started because of its name.", "Note: the check of the code found in a.py, line 7: chmod 777."}, notes)
}
