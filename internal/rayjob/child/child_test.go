package child_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/child"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAnInterpreterThatIsMissingEndsTheJobWithTheSettingToCorrect(t *testing.T) {
	t.Parallel()
	backend := child.New(child.Config{Dir: t.TempDir()})
	t.Cleanup(backend.Close)
	a := rayjob.Attempt{Run: "ft-none", Number: 1, Dir: t.TempDir(), Python: "/nowhere/python"}
	_, err := backend.Submit(t.Context(), a)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.ErrorContains(t, err, "RAY_PYTHON")
	require.ErrorIs(t, backend.Logs(t.Context(), rayjob.Handle{ID: a.Name()}, &bytes.Buffer{}), rayjob.ErrNoLogs)
}
