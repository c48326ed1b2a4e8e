package folder_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/folder"
)

func TestAFolderSaysWhichFilesTakeNoPart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		doc   string
		want  []string
		fault string
	}{
		"a folder":   {"raw/", []string{"a.csv"}, ""},
		"everything": {"*", nil, "leaves out all files of the dataset"},
		"a fault":    {"!", nil, ".clowderignore: line 1 is no pattern"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dataset := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dataset, "raw"), 0o700))
			for file, body := range map[string]string{".clowderignore": tc.doc, "a.csv": "a", "raw/b.csv": "b"} {
				require.NoError(t, os.WriteFile(filepath.Join(dataset, file), []byte(body), 0o600))
			}
			p, err := folder.New(dataset, t.TempDir())
			require.NoError(t, err)
			var said []string
			staged, _, err := p.Stage(t.Context(), job.Record{}, disk.Folder{Volume: t.TempDir()}, platform.Say{Note: func(text string) { said = append(said, text) }})
			listed, listErr := p.Inputs(t.Context())
			if tc.fault != "" {
				require.ErrorContains(t, err, tc.fault)
				require.ErrorContains(t, listErr, tc.fault)
				kind, _ := job.Classify(err)
				require.Equal(t, job.KindPermanent, kind)
				return
			}
			require.NoError(t, err)
			require.NoError(t, listErr)
			require.Equal(t, listed, staged)
			require.Equal(t, []string{"Left out 1 file, as .clowderignore asks"}, said)
			var got []string
			for _, in := range staged {
				got = append(got, in.Name)
			}
			require.Equal(t, tc.want, got)
		})
	}
}
