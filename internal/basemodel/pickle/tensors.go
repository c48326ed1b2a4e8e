package pickle

import (
	"fmt"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/basemodel/safetensors"
)

const maxDims = 32

// rebuilt carries out torch._utils._rebuild_tensor_v2: storage, offset, shape, stride, requires_grad, hooks and perhaps metadata.
func rebuilt(args tuple) (*tensor, error) {
	if len(args) < 6 || len(args) > 7 {
		return nil, damaged("a tensor of %d parts", len(args))
	}
	if len(args) == 7 && args[6] != nil {
		return nil, moreThanTensors("a tensor with metadata")
	}
	from, isStorage := args[0].(*storage)
	offset, isNumber := args[1].(int64)
	if !isStorage || !isNumber {
		return nil, damaged("a tensor without a storage")
	}
	shape, isShape := integers(args[2])
	stride, isStride := integers(args[3])
	if !isShape || !isStride || len(shape) != len(stride) || offset < 0 {
		return nil, damaged("a tensor without a shape")
	}
	t := &tensor{storage: from, offset: offset, shape: shape, stride: stride}
	if last, fits := t.extent(); !fits || last > from.numbers {
		return nil, damaged("a tensor of shape %v does not fit into its storage of %d numbers", shape, from.numbers)
	}
	return t, nil
}

func integers(v any) ([]int64, bool) {
	values, isTuple := v.(tuple)
	if !isTuple || len(values) > maxDims {
		return nil, false
	}
	found := make([]int64, len(values))
	for i, value := range values {
		n, isNumber := value.(int64)
		if !isNumber || n < 0 {
			return nil, false
		}
		found[i] = n
	}
	return found, true
}

// extent is the number of the storage after the last one that the tensor reads. It reports false if that needs more than 62 bits.
func (t *tensor) extent() (int64, bool) {
	const most = 1 << 62
	last := uint64(t.offset) //nolint:gosec // The offset is not negative.
	for i, n := range t.shape {
		if n == 0 {
			return t.offset, true
		}
		high, low := bits.Mul64(uint64(n-1), uint64(t.stride[i])) //nolint:gosec // Neither is negative.
		if last += low; high != 0 || low > most || last > most {
			return 0, false
		}
	}
	return int64(last + 1), true //nolint:gosec // It is at most 2^62.
}

// run is how many numbers lie one after the other in the storage, and the number of dimensions in front of them.
func (t *tensor) run() (numbers int64, outer int) {
	numbers = 1
	for i, n := range slices.Backward(t.shape) {
		if n != 1 && t.stride[i] != numbers {
			return numbers, i + 1
		}
		numbers *= n
	}
	return numbers, 0
}

func (t *tensor) same(other *tensor) bool {
	return t.storage == other.storage && t.offset == other.offset && slices.Equal(t.shape, other.shape) && slices.Equal(t.stride, other.stride)
}

func (t *tensor) described(name string) safetensors.Tensor {
	return safetensors.Tensor{Name: name, Type: t.storage.kind.name, Shape: t.shape}
}

// weights are the tensors of a checkpoint by name.
type weights struct {
	tensors map[string]*tensor
	// shared has the names that are left out, because they are the same tensor as another name.
	shared map[string]string
}

// collect returns the tensors of the value of a checkpoint, which is a dictionary of tensors by name. Of names of the same tensor the
// first stays, since safetensors shares nothing; the libraries tie the others again.
func collect(value any) (weights, error) {
	w := weights{map[string]*tensor{}, map[string]string{}}
	d, isDict := value.(*dict)
	if !isDict {
		return w, moreThanTensors("a value that is no dictionary of tensors")
	}
	first := map[*storage][]string{}
	for i, key := range d.keys {
		name, isText := key.(string)
		t, isTensor := d.values[i].(*tensor)
		switch {
		case !isText || name == "" || name == "__metadata__" || !utf8.ValidString(name):
			return w, damaged("a tensor has the name %q", shown(fmt.Sprint(key)))
		case !isTensor:
			return w, moreThanTensors(name)
		case w.tensors[name] != nil || w.shared[name] != "":
			return w, damaged("it has two tensors with the name %s", shown(name))
		}
		kept := slices.IndexFunc(first[t.storage], func(n string) bool { return w.tensors[n].same(t) })
		if kept >= 0 {
			w.shared[name] = first[t.storage][kept]
			continue
		}
		first[t.storage] = append(first[t.storage], name)
		w.tensors[name] = t
	}
	if len(w.tensors) == 0 {
		return w, refused("The checkpoint holds no tensors. Ask its author for safetensors.")
	}
	return w, nil
}
