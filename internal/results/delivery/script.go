package delivery

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// maxSingleFiles is how many outputs of a script are delivered as files of their own; the others are in outputs.zip.
	maxSingleFiles = 20
	// maxCodeBytes bounds what code.zip packs, in bytes. A file beyond it is left out; its hash stays in the manifest.
	maxCodeBytes = 64 << 20
	// inputsDir is the folder of the staged files in a run folder.
	inputsDir = "inputs/"
	outputsIn = "outputs/"
)

// pages are the endings of files that a browser could run. They are delivered inside of outputs.zip only.
var pages = []string{".html", ".htm", ".xhtml", ".mhtml", ".svg", ".xml", ".js", ".mjs", ".ipynb", ".swf", ".pdf"}

// packed are the endings of files that an archive does not make smaller.
var packed = []string{
	results.WeightsSuffix, ".pt", ".pth", ".ckpt", ".bin", ".h5", ".keras", ".npz", ".zip", ".gz", ".bz2", ".xz", ".zst", ".png", ".jpg", ".jpeg", ".parquet", ".onnx",
}

// scriptFiles are what the user gets of a script beside the log, the manifest and the report: its code, and what it left.
func scriptFiles(ctx context.Context, root *os.Root, r *results.Result, m manifest.Meta) []deliverable {
	single, rest := sortOutputs(r.Outputs)
	var list []deliverable
	if len(r.Script.Code) > 0 {
		list = append(list, deliverable{
			Artifact{
				Name: "code.zip", ContentType: typeZip,
				Title:       "Code",
				Description: "The code that ran, sha256 " + text.Shorten(r.Script.CodeSHA256, 13) + ".",
			},
			func(w io.Writer) error { return writeCode(ctx, w, root, r, m) },
		})
	}
	if len(rest) > 0 {
		list = append(list, deliverable{
			Artifact{
				Name: "outputs.zip", ContentType: typeZip,
				Title:       "More files of the script",
				Description: text.Capital(text.Count(len(rest), "file")) + " that the script wrote: those in folders, pages, and those beyond the first " + text.Number(maxSingleFiles) + ".",
			},
			func(w io.Writer) error { return writeOutputs(ctx, w, root, rest, m) },
		})
	}
	for _, o := range single {
		list = append(list, deliverable{
			Artifact{
				Name: outputsIn + strings.TrimPrefix(o.Path, results.OutDir), ContentType: outputType(o.Path),
				Title:       "File of the script",
				Description: "Written by the script, not checked.",
			},
			func(w io.Writer) error { return results.CopyOutput(w, root, o) },
		})
	}
	return list
}

// sortOutputs says which outputs are delivered as files of their own, in order of path, and which in outputs.zip.
func sortOutputs(outputs []results.Output) (single, rest []results.Output) {
	for _, o := range slices.SortedFunc(slices.Values(outputs), func(a, b results.Output) int { return cmp.Compare(a.Path, b.Path) }) {
		name := strings.TrimPrefix(o.Path, results.OutDir)
		if strings.Contains(name, "/") || isPage(name) || strings.HasSuffix(name, ".part") || len(single) == maxSingleFiles {
			rest = append(rest, o)
		} else {
			single = append(single, o)
		}
	}
	return single, rest
}

// isPage reports whether a browser may run what a file of this name holds.
func isPage(name string) bool { return slices.Contains(pages, strings.ToLower(path.Ext(name))) }

// outputType is text for what people read, and bytes for all else: Clowder draws other types, and the file may not be what its name says.
func outputType(p string) string {
	switch strings.ToLower(path.Ext(p)) {
	case ".txt", ".log", ".json", ".jsonl", ".yaml", ".yml", ".md":
		return typeText
	case ".csv":
		return typeCSV
	default:
		return typeBytes
	}
}

func writeOutputs(ctx context.Context, w io.Writer, root *os.Root, outputs []results.Output, m manifest.Meta) error {
	return newArchive(w, m.Started).finish(ctx, root, outputs, results.OutDir, "outputs/")
}

// writeCode packs the code of the dataset as it was staged. A file that is no longer there as its hash says is left out.
func writeCode(ctx context.Context, w io.Writer, root *os.Root, r *results.Result, m manifest.Meta) error {
	staged := map[string]job.Input{}
	for _, in := range m.Inputs {
		staged[in.SHA256] = in
	}
	z, left := newArchive(w, m.Started), int64(maxCodeBytes)
	for _, c := range slices.SortedFunc(slices.Values(r.Script.Code), func(a, b results.CodeFile) int { return cmp.Compare(a.Path, b.Path) }) {
		if err := ctx.Err(); err != nil {
			return err
		}
		in, ok := staged[c.SHA256]
		if !ok || in.Size != c.Size || in.Size > left || !fs.ValidPath(c.Path) {
			continue
		}
		left -= in.Size
		if err := z.addStaged(root, c.Path, in); err != nil {
			return err
		}
	}
	return z.finish(ctx, root, nil, "", "")
}

func (z *archive) addStaged(root *os.Root, name string, in job.Input) error {
	f, err := disk.OpenVerified(root, inputsDir+in.Path, in.Size, in.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return results.DiskError(err)
	}
	defer func() { _ = f.Close() }()
	return z.addBody("code/"+name, f)
}

// reportFiles is what the report of a script reads of the run folder.
func reportFiles(root *os.Root) report.Files {
	return report.Files{
		Open:   func(o results.Output) (io.ReadCloser, error) { return results.OpenOutput(root, o) },
		LogEnd: results.LogEnd(root, report.LogLines),
	}
}

func describeScript(r *results.Result, content map[string]any) {
	s := r.Script
	maps.Copy(content, map[string]any{
		"entry":       text.Excerpt(s.Entry, 200),
		"code_sha256": results.Plain(s.CodeSHA256, ""),
		"sandbox":     results.Plain(s.Sandbox.Name, ""),
		"seconds":     s.Seconds,
		"outputs":     len(r.Outputs),
		"starts":      len(s.Starts),
		"failed":      r.Partial,
	})
	if s.Exit.Code != nil {
		content["exit_code"] = *s.Exit.Code
	}
	if by := s.StoppedBy(); by != "" {
		content["stopped_by"] = by
	}
	if s.Metric != nil {
		content["metric"], content["value"] = text.Excerpt(s.Metric.Name, 60), s.Metric.Value
	}
}
