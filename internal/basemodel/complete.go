package basemodel

import (
	"context"
	"os"
)

// Hints is what the operator says about a model whose files do not say it.
type Hints struct {
	// ModelType is the family of the architecture, e.g. bert, or empty.
	ModelType string
}

// Inspect says what a model is before its weights are loaded, from config.json and the names of its files. Kind is empty if only the weights
// can tell. It refuses with a permanent error a model that this service cannot use: with code of its own, of an unknown type, without a
// tokenizer.
func Inspect(_ []byte, _ []string, _ Hints) (Facts, error) {
	return Facts{}, nil
}

// Complete adds to config.json in folder what it lacks, and says what the model is. The folder holds safetensors. It refuses what Inspect
// refuses.
func Complete(_ context.Context, _ *os.Root, _ Hints) (Facts, error) {
	return Facts{Kind: KindText}, nil
}
