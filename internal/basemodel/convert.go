package basemodel

import (
	"context"
	"os"
)

// Convert writes the tensors of weights in pickled form into model.safetensors in the same folder and removes the pickles. It returns the
// names of the pickles; none if the folder has safetensors already. A pickle that holds more than tensors is refused with a permanent
// error. Nothing in a pickle is run.
func Convert(_ context.Context, _ *os.Root) (from []string, err error) {
	return nil, nil
}
