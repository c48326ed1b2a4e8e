package delivery

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report"
)

// writeArchive writes model.zip: the model in a folder model/, beside it the card, the manifest and how to load it. The
// names are sorted and the times fixed, so that the same run gives the same bytes.
func writeArchive(ctx context.Context, w io.Writer, root *os.Root, m manifest.Meta, r *results.Result) error {
	var card, made bytes.Buffer
	if err := report.WriteCard(&card, m, r); err != nil {
		return err
	}
	if err := manifest.Write(&made, m, r); err != nil {
		return err
	}
	guide := report.GuideOf(r) +
		"\n`model_card.md` describes the model and its limits; `manifest.json` records exactly what it was made from.\n"
	z := newArchive(w, m.Started)
	if err := z.addTexts(textFile{"README.md", guide}, textFile{"manifest.json", made.String()}, textFile{"model_card.md", card.String()}); err != nil {
		return err
	}
	held := slices.DeleteFunc(slices.Clone(r.Outputs), func(o results.Output) bool { return o.Apart })
	return z.finish(ctx, root, held, results.ModelDir, "model/")
}

// writeBaseline writes baseline.zip: the simple model in a folder baseline/, beside it how to use it.
func writeBaseline(ctx context.Context, w io.Writer, root *os.Root, m manifest.Meta, r *results.Result) error {
	z := newArchive(w, m.Started)
	if err := z.addTexts(textFile{"README.md", report.BaselineGuide(r)}); err != nil {
		return err
	}
	return z.finish(ctx, root, r.Outputs, results.BaselineDir, "baseline/")
}

type archive struct {
	zip *zip.Writer
	at  time.Time
}

func newArchive(w io.Writer, at time.Time) *archive {
	return &archive{zip: zip.NewWriter(w), at: at.UTC().Truncate(2 * time.Second)} // what the format can hold
}

// finish adds the outputs below from, as files below to, in the order of their names, and the end.
func (z *archive) finish(ctx context.Context, root *os.Root, outputs []results.Output, from, to string) error {
	for _, o := range slices.SortedFunc(slices.Values(outputs), func(a, b results.Output) int { return cmp.Compare(a.Path, b.Path) }) {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, ok := strings.CutPrefix(o.Path, from)
		if !ok {
			continue
		}
		if err := z.addOutput(root, to+name, o); err != nil {
			return err
		}
	}
	if err := z.zip.Close(); err != nil {
		return fmt.Errorf("finish the archive: %w", err)
	}
	return nil
}

func (z *archive) addOutput(root *os.Root, name string, o results.Output) error {
	f, err := results.OpenOutput(root, o)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return z.addBody(name, f)
}

// addBody packs a file, unless its kind cannot become smaller: weights are noise, and packing them takes long.
func (z *archive) addBody(name string, body io.Reader) error {
	method := zip.Deflate
	if slices.Contains(packed, strings.ToLower(path.Ext(name))) {
		method = zip.Store
	}
	return z.add(name, method, body)
}

// textFile is a small file that is made for the archive.
type textFile struct{ name, body string }

func (z *archive) addTexts(files ...textFile) error {
	for _, f := range files {
		if err := z.add(f.name, zip.Deflate, strings.NewReader(f.body)); err != nil {
			return err
		}
	}
	return nil
}

func (z *archive) add(name string, method uint16, body io.Reader) error {
	h := &zip.FileHeader{Name: name, Method: method, Modified: z.at}
	h.SetMode(0o644)
	w, err := z.zip.CreateHeader(h)
	if err == nil {
		_, err = io.Copy(w, body)
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}
