package basemodel

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/ncsa/clowder-ray/internal/basemodel/pickle"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	pickleSuffix  = ".bin"
	weightsSuffix = ".safetensors"
)

// pickles are the names of weights in pickled form: one file, or several parts.
var pickles = regexp.MustCompile(`^pytorch_model(-\d{5}-of-\d{5})?\.bin$`)

// Convert writes the tensors of weights in pickled form as safetensors into the same folder and removes the pickles: pytorch_model.bin
// becomes model.safetensors, and parts become parts with a new index. It returns the names of the pickles; none if the folder has none. A
// pickle that holds more than tensors is refused with a permanent error. Nothing in a pickle is run. It needs room for the tensors a second
// time. After a kill, another call goes on.
func Convert(ctx context.Context, folder *os.Root) (from []string, err error) {
	entries, err := disk.List(folder, ".", maxEntries)
	if err != nil {
		return nil, err
	}
	index := map[string]string{} // the part of each tensor
	for _, e := range entries {
		if !pickles.MatchString(e.Name()) {
			continue
		}
		to := converted(e.Name())
		tensors, err := convertOne(ctx, folder, e.Name(), to)
		if err != nil {
			return nil, err
		}
		for _, name := range tensors {
			if index[name] != "" {
				return nil, refuse("The tensor %q is in two parts of the weights. Load the model again.", name)
			}
			index[name] = to
		}
		from = append(from, e.Name())
	}
	if len(from) == 0 {
		return nil, nil
	}
	if err := writeIndex(folder, index); err != nil {
		return nil, err
	}
	for _, name := range append([]string{pickleIndex}, from...) {
		if err := folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return from, disk.SyncFolder(folder, ".")
}

// converted is the name of the safetensors that are made from a pickle.
func converted(pickle string) string {
	return "model" + strings.TrimPrefix(strings.TrimSuffix(pickle, pickleSuffix), "pytorch_model") + weightsSuffix
}

// convertOne converts a file and returns the names of its tensors.
func convertOne(ctx context.Context, folder *os.Root, from, to string) ([]string, error) {
	f, info, err := disk.Open(folder, from)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var result pickle.Result
	err = disk.Write(folder, to, func(w io.Writer) error {
		result, err = pickle.Convert(ctx, f, info.Size(), w)
		return err
	})
	if errors.Is(err, pickle.ErrRefused) {
		return nil, job.Permanent(err)
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, len(result.Tensors))
	for i, t := range result.Tensors {
		names[i] = t.Name
	}
	return names, nil
}

// writeIndex writes which part has which tensor, if there are several parts. All parts that the old index names must be there.
func writeIndex(folder *os.Root, index map[string]string) error {
	old, err := readIndex(folder, pickleIndex)
	if err != nil {
		return err
	}
	parts := map[string]bool{}
	for _, part := range index {
		parts[part] = true
	}
	for _, part := range old {
		if !parts[converted(part)] {
			return refuse("The model lacks %q, a part of its weights. Load the model again.", part)
		}
	}
	if old == nil {
		return nil
	}
	doc, err := json.Marshal(map[string]any{"metadata": map[string]any{}, "weight_map": index})
	if err != nil {
		return err
	}
	return disk.WriteFile(folder, weightsIndex, doc)
}

// readIndex returns the part of each tensor. It returns nil if there is no index.
func readIndex(folder *os.Root, name string) (map[string]string, error) {
	const maxIndex = 64 << 20
	doc, err := disk.ReadFile(folder, name, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // A missing index is no error, and one without entries is another thing.
	}
	if err != nil {
		return nil, err
	}
	var index struct {
		Parts map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(doc, &index); err != nil || index.Parts == nil {
		return nil, refuse("%s is damaged. Load the model again.", name)
	}
	return index.Parts, nil
}
