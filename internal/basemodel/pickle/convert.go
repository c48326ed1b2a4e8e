package pickle

import (
	"bufio"
	"context"
	"io"

	"github.com/ncsa/clowder-ray/internal/basemodel/safetensors"
)

const (
	// maxGrowth is how many times larger than the checkpoint the tensors may be: a view of few numbers may claim a large shape.
	maxGrowth = 2
	// maxReads is how many times the length of the checkpoint is read at most for tensors whose numbers do not lie one after the other.
	maxReads = 8
	// maxScattered is the largest part of a storage that is held in memory for such a tensor.
	maxScattered = 1 << 30
	slack        = 1 << 20
	buffer       = 64 << 10
)

// Result says what was converted.
type Result struct {
	// Tensors are in the order of the new file.
	Tensors []safetensors.Tensor
	// Shared has, for each name that was left out, the name of the same tensor that stayed.
	Shared map[string]string
}

// Convert writes the tensors of the checkpoint in, of size bytes, to out. Half, bfloat16 and all other numbers keep their bits. The same
// checkpoint gives the same bytes. It needs memory for the names only, or for one tensor if its numbers do not lie one after the other.
//
// The error about a checkpoint that holds more than tensors or is damaged wraps ErrRefused, and is a sentence for the operator. After an
// error, what was written is of no use. It ends early if ctx is done.
func Convert(ctx context.Context, in io.ReaderAt, size int64, out io.Writer) (Result, error) {
	w, err := open(in, size)
	if err != nil {
		return Result{}, err
	}
	result := Result{Shared: w.shared}
	total, reads := int64(0), int64(0)
	for name, t := range w.tensors {
		described := t.described(name)
		bytes := described.Bytes()
		if bytes < 0 || bytes > maxGrowth*size+slack-total {
			return Result{}, damaged("its tensors are more than %d times as large as the file", maxGrowth)
		}
		total += bytes
		if reads += t.scattered(); reads > maxReads*size {
			return Result{}, damaged("its tensors read the same numbers too often")
		}
		result.Tensors = append(result.Tensors, described)
	}
	safetensors.Order(result.Tensors)
	buffered := bufio.NewWriterSize(out, buffer)
	if err := safetensors.WriteHeader(buffered, result.Tensors); err != nil {
		return Result{}, err
	}
	for _, described := range result.Tensors {
		if err := w.tensors[described.Name].copyTo(ctx, buffered, in); err != nil {
			return Result{}, err
		}
	}
	return result, buffered.Flush()
}

// scattered is how many bytes are read into memory for the tensor; 0 if its numbers lie one after the other.
func (t *tensor) scattered() int64 {
	if _, outer := t.run(); outer == 0 || t.empty() {
		return 0
	}
	end, _ := t.extent()
	return (end - t.offset) * t.storage.kind.size
}

func (t *tensor) empty() bool { return t.described("").Numbers() == 0 }

// copyTo writes the numbers of the tensor in the order of its shape.
func (t *tensor) copyTo(ctx context.Context, out io.Writer, in io.ReaderAt) error {
	size := t.storage.kind.size
	begin := t.storage.offset + t.offset*size
	numbers, outer := t.run()
	switch {
	case t.empty():
		return nil
	case outer == 0:
		_, err := io.Copy(out, &interruptible{ctx, io.NewSectionReader(in, begin, numbers*size)})
		return err
	case t.scattered() > maxScattered:
		return refused("A tensor of the checkpoint is transposed and too large, so it is not converted. Ask its author for safetensors.")
	}
	held := make([]byte, t.scattered())
	if _, err := io.ReadFull(&interruptible{ctx, io.NewSectionReader(in, begin, int64(len(held)))}, held); err != nil {
		return err
	}
	return t.gather(out, held, numbers*size, outer)
}

// gather writes the runs of the tensor, which begin in held at the sums of the outer strides.
func (t *tensor) gather(out io.Writer, held []byte, run int64, outer int) error {
	index, at, size := make([]int64, outer), int64(0), t.storage.kind.size
	for {
		if _, err := out.Write(held[at*size : at*size+run]); err != nil {
			return err
		}
		i := outer - 1
		for ; i >= 0; i-- {
			index[i]++
			at += t.stride[i]
			if index[i] < t.shape[i] {
				break
			}
			at -= t.stride[i] * index[i]
			index[i] = 0
		}
		if i < 0 {
			return nil
		}
	}
}

// interruptible is a reader that ends with the error of its context.
type interruptible struct {
	ctx context.Context //nolint:containedctx // It lives as long as one call of Read.
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}
