package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestAVolumeThatIsAwayForAMomentIsNoDamage(t *testing.T) {
	t.Parallel()
	for cause, temporary := range map[error]bool{
		syscall.EIO: true, syscall.ESTALE: true, syscall.ETIMEDOUT: true, syscall.EMFILE: true, syscall.ENFILE: true, syscall.ENOMEM: true,
		syscall.EACCES: false, syscall.ELOOP: false, syscall.ENOENT: false, errors.New("unexpected end of JSON input"): false,
	} {
		opened := fmt.Errorf("decode: %w", &fs.PathError{Op: "open", Path: "/volume/registry", Err: cause})
		err := unreadable("the model films/3", ", or enter another version", opened)
		require.EqualError(t, err, "the model films/3 cannot be read: ask the administrator, or enter another version")
		kind, _ := job.Classify(err)
		want := job.KindPermanent
		if temporary {
			want = job.KindRetryable
		}
		require.Equal(t, want, kind, cause)
		require.Equal(t, !temporary, errors.Is(err, ErrUnreadable), "a run must not be given up for %v", cause)
	}
}

func TestTheOperatorReadsOfEachFaultOnceAndMemoryIsBounded(t *testing.T) {
	t.Parallel()
	var p problems
	reported := map[string]int{}
	p.report = func(path string, _ error) { reported[path]++ }
	for range 3 {
		for i := range maxProblems - 1 {
			p.add(strconv.Itoa(i), errors.New("torn"))
		}
	}
	require.Len(t, reported, maxProblems-1)
	for path, times := range reported {
		require.Equal(t, 1, times, path)
	}
	for _, path := range []string{"one more", "too many", "0"} {
		p.add(path, errors.New("torn"))
		require.LessOrEqual(t, len(p.seen), maxProblems)
	}
	require.Equal(t, 2, reported["0"], "what was forgotten is reported again")
}

func TestTheNewestVersionsAreReadFirst(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	r := New(disk.Folder{Volume: volume, Name: "registry"})
	var faults []string
	r.OnFault(func(path string, err error) { faults = append(faults, path+": "+err.Error()) })
	of := Dataset{ID: Local}
	dir := filepath.Join(volume, "registry", Local, "films")
	for _, number := range []string{"1", "2", "9", "10", "11"} { // by number and not by name
		require.NoError(t, os.MkdirAll(filepath.Join(dir, number), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, number, versionFile), []byte(`{"run": "ft-`+number+`"}`), 0o600))
	}
	for name, tc := range map[string]struct {
		budget readBudget
		want   []int
	}{
		"a budget of versions":       {readBudget{versions: 3, bytes: maxBytes}, []int{9, 10, 11}},
		"a budget of bytes":          {readBudget{versions: maxVersions, bytes: 20}, []int{10, 11}},
		"one that is used up before": {readBudget{}, nil},
		"enough":                     {readBudget{versions: maxVersions, bytes: maxBytes}, []int{1, 2, 9, 10, 11}},
	} {
		versions, err := r.versions(of, "films", &tc.budget)
		require.NoError(t, err, name)
		var got []int
		for _, v := range versions {
			got = append(got, v.Version)
		}
		require.Equal(t, tc.want, got, name)
	}
	require.Equal(t, []string{dir + ": the folder has too many versions: older ones are skipped"}, faults)
}

func TestAVersionOfANewerProgramIsNotRead(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	r := New(disk.Folder{Volume: volume, Name: "registry"})
	var faults []error
	r.OnFault(func(_ string, err error) { faults = append(faults, err) })
	of := Dataset{ID: Local}
	for number, wrote := range []int{schema, schema + 1} {
		dir := filepath.Join(volume, "registry", Local, "films", strconv.Itoa(number+1))
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, versionFile), fmt.Appendf(nil, `{"schema": %d, "run": "ft-1"}`, wrote), 0o600))
	}
	all, err := r.All(of)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, 1, all[0].Version)
	require.Len(t, faults, 1)
	require.ErrorContains(t, faults[0], "it was written by a newer version of this program (schema 2, known is 1): use that version")
}
