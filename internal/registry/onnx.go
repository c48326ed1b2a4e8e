package registry

import (
	"fmt"
	"io"
	"slices"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// ONNXFile is the network of a version in the form that other programs run.
const ONNXFile = "model.onnx"

// HasONNX reports whether the version has a network in that form.
func (v Version) HasONNX() bool {
	return slices.ContainsFunc(v.Files, func(f File) bool { return f.Path == ONNXFile })
}

// basesWithoutNetwork are the bases of models that are fitted without a network.
var basesWithoutNetwork = []string{"words", "linear", "trees", "perceptron", "ensemble"}

// IsEstimator reports whether the version has one of these bases. It then answers from its own files.
func (v Version) IsEstimator() bool { return slices.Contains(basesWithoutNetwork, v.Base) }

// ONNX opens the file of a version. Its reader returns an error at the end if it is not the file that was registered. A version without one
// is a permanent error that says why.
func (r *Registry) ONNX(v Version) (io.ReadCloser, error) {
	i := slices.IndexFunc(v.Files, func(f File) bool { return f.Path == ONNXFile })
	if i < 0 {
		return nil, job.Permanent(fmt.Errorf("%s has no %s: %s", v.Ref(), ONNXFile, v.whyNoONNX()))
	}
	root, err := r.Model(v).Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return disk.OpenVerified(root, ONNXFile, v.Files[i].Size, v.Files[i].SHA256)
}

// whyNoONNX is the end of a sentence.
func (v Version) whyNoONNX() string {
	if v.IsEstimator() {
		return "it is a model of scikit-learn, which is stored as tensors and JSON; models export writes them"
	}
	return "models of its kind have none, or it was trained before networks were delivered with one, or a note of the run " + v.Run +
		" says why it was left out; models export writes this model in its own form"
}
