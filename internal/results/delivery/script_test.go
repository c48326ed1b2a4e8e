package delivery

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestAScriptDeliversItsCodeAndItsFiles(t *testing.T) {
	t.Parallel()
	for _, golden := range []string{"result-script.json", "result-script-partial.json"} {
		t.Run(golden, func(t *testing.T) {
			t.Parallel()
			f := resultstest.NewGolden(t, golden)
			f.Result.Outputs = nil
			for _, name := range []string{"out/ckpt.pt", "out/metrics.json", "out/page.HTML", "out/note.ipynb", "out/runs/a/b/events.out.tfevents.1"} {
				f.Write(t, name, []byte(name))
				f.List(t, name)
			}
			for i := range maxSingleFiles {
				name := fmt.Sprintf("out/z%02d.bin", i)
				f.Write(t, name, []byte(name))
				f.List(t, name)
			}
			stage(t, f, "train.py", "print(1)\n")
			stage(t, f, "model.py", "print(2)\n")
			gone := stage(t, f, "gone.py", "print(3)\n")
			require.NoError(t, os.Remove(f.Path("inputs/"+gone.Path)))

			artifacts := deliverAll(t, f)
			var names []string
			for _, a := range artifacts {
				names = append(names, a.Name)
				require.True(t, a.Show == ShowNone || a.Name == "report.html", "nothing of the script is put on a page: %s", a.Name)
				require.NotContains(t, []string{typeHTML, typePNG, typeVega}, contentOf(a), a.Name)
			}
			require.Equal(t, []string{"log.txt", "manifest.json", "code.zip", "outputs.zip", "outputs/ckpt.pt", "outputs/metrics.json", "outputs/z00.bin"}, names[:7])
			require.Equal(t, "report.html", names[len(names)-1])
			require.Len(t, names, 4+maxSingleFiles+1)
			require.Equal(t, []string{"code/model.py", "code/train.py"}, zipped(t, artifacts, "code.zip"))
			require.Equal(t, []string{"outputs/note.ipynb", "outputs/page.HTML", "outputs/runs/a/b/events.out.tfevents.1", "outputs/z18.bin", "outputs/z19.bin"}, zipped(t, artifacts, "outputs.zip"))

			m, err := manifest.ReadManifest(f.Path("user/manifest.json"))
			require.NoError(t, err)
			require.Equal(t, "train.py", m.Script.Entry)
			require.Equal(t, f.Result.Partial, m.Script.Failed)
			again, err := buildAll(t, f)
			require.NoError(t, err)
			require.Equal(t, artifacts, again)
		})
	}
}

func TestTheFolderOfAScriptIsNamedAfterIt(t *testing.T) {
	t.Parallel()
	f := resultstest.NewGolden(t, "result-script.json")
	require.Equal(t, []string{"finetune", "2026-11-21-script-train-s2c8r4t6"}, Folder(f.Meta, &f.Result))
}

// stage puts a file of code into the inputs of the run.
func stage(t *testing.T, f *resultstest.Fixture, name, body string) job.Input {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	in := job.Input{Name: name, Path: "0001-" + name, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])}
	f.Write(t, "inputs/"+in.Path, []byte(body))
	f.Meta.Inputs = append(f.Meta.Inputs, in)
	f.Result.Script.Code = append(f.Result.Script.Code, results.CodeFile{Path: name, Size: in.Size, SHA256: in.SHA256})
	return in
}

// contentOf is the content type of what a script wrote, empty for what was made here.
func contentOf(a Artifact) string {
	if strings.HasPrefix(a.Name, outputsIn) {
		return a.ContentType
	}
	return ""
}

func zipped(t *testing.T, artifacts []Artifact, name string) []string {
	t.Helper()
	at := slices.IndexFunc(artifacts, func(a Artifact) bool { return a.Name == name })
	require.GreaterOrEqual(t, at, 0, name)
	body := requireWhole(t, artifacts[at])
	archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	require.NoError(t, err)
	var names []string
	for _, file := range archive.File {
		body, err := file.Open()
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, body)
		require.NoError(t, err)
		names = append(names, file.Name)
	}
	return names
}
