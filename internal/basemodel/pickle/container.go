package pickle

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"strings"
)

// noCheckpoint is the error about a file in neither of the two formats.
const noCheckpoint refused = "The file is no checkpoint of PyTorch, so it is not converted. Ask its author for safetensors."

// maxDirectory is the most bytes of a ZIP that are read to list its entries: enough for 100,000 tensors.
const maxDirectory = 16 << 20

// open returns the tensors of the checkpoint in r, with their places in it.
func open(r io.ReaderAt, size int64) (weights, error) {
	var value any
	var begin [4]byte
	_, err := r.ReadAt(begin[:], 0)
	switch {
	case errors.Is(err, io.EOF):
		return weights{}, damaged("it has %d bytes", size)
	case err != nil:
		return weights{}, err
	case string(begin[:]) == "PK\x03\x04":
		value, err = openZip(r, size)
	case begin[0] == opProto:
		value, err = openOld(r, size)
	default:
		err = noCheckpoint
	}
	if err != nil {
		return weights{}, err
	}
	return collect(value)
}

// storageTable hands out the storages of a checkpoint, each of them once.
type storageTable struct {
	byKey map[string]*storage
	// place finds the bytes of a new storage, if they can be found before the pickle ends.
	place func(*storage) error
}

// get carries out ("storage", class, key, device, numbers) and, in old files, a view that is always empty today.
func (s storageTable) get(id tuple) (any, error) {
	if len(id) < 5 || len(id) > 6 || id[0] != "storage" || len(id) == 6 && id[5] != nil {
		return nil, damaged("its pickle names a storage in an unknown way")
	}
	class, isGlobal := id[1].(global)
	key, isText := id[2].(string)
	numbers, isNumber := id[4].(int64)
	if !isGlobal || !isText || !isNumber || numbers < 0 || kinds[class].size == 0 {
		return nil, damaged("its pickle names a storage in an unknown way")
	}
	found := &storage{key: key, kind: kinds[class], numbers: numbers}
	if known := s.byKey[key]; known != nil {
		if known.kind != found.kind || known.numbers != numbers {
			return nil, damaged("the storage %s has two types", shown(key))
		}
		return known, nil
	}
	if err := s.place(found); err != nil {
		return nil, err
	}
	s.byKey[key] = found
	return found, nil
}

// fits reports whether the storage has count bytes.
func (s *storage) fits(count int64) bool {
	return s.numbers <= count/s.kind.size && s.numbers*s.kind.size == count
}

// budget ends reading after a number of bytes.
type budget struct {
	r    io.ReaderAt
	left int64
}

func (b *budget) ReadAt(p []byte, offset int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, refused("The checkpoint is a ZIP of too many files, so it is not converted. Ask its author for safetensors.")
	}
	return b.r.ReadAt(p, offset)
}

// openZip reads the format of torch 1.6 and later: a ZIP of data.pkl and of one file for each storage, none of them compressed.
func openZip(r io.ReaderAt, size int64) (any, error) {
	limited := &budget{r: r, left: maxDirectory}
	archive, err := zip.NewReader(limited, size)
	if errors.Is(err, ErrRefused) {
		return nil, err
	}
	if err != nil {
		return nil, damaged("it is no whole ZIP")
	}
	entries, top := map[string]*zip.File{}, ""
	for _, f := range archive.File {
		if entries[f.Name] != nil {
			return nil, damaged("its ZIP has two files with the same name")
		}
		entries[f.Name] = f
		if path.Base(f.Name) == "data.pkl" && strings.Count(f.Name, "/") == 1 {
			top = path.Dir(f.Name)
		}
	}
	limited.left = maxDirectory // for the headers in front of the files
	offset, count, err := stored(entries[top+"/data.pkl"], size)
	if err != nil {
		return nil, err
	}
	if err := littleEndian(r, entries[top+"/byteorder"], size); err != nil {
		return nil, err
	}
	place := func(s *storage) error {
		offset, count, err := stored(entries[top+"/data/"+s.key], size)
		if err != nil {
			return err
		}
		if s.offset, s.placed = offset, true; !s.fits(count) {
			return damaged("the storage %s claims %d numbers and has %d bytes", shown(s.key), s.numbers, count)
		}
		return nil
	}
	return load(newSource(r, offset, count), storageTable{map[string]*storage{}, place}.get)
}

// stored returns where the bytes of f lie in the ZIP of size bytes. PyTorch compresses nothing, so a file that is compressed is refused.
func stored(f *zip.File, size int64) (offset, count int64, err error) {
	if f == nil {
		return 0, 0, damaged("its ZIP lacks data.pkl or a storage")
	}
	offset, err = f.DataOffset()
	if errors.Is(err, ErrRefused) {
		return 0, 0, err
	}
	if err != nil || f.Method != zip.Store || f.CompressedSize64 != f.UncompressedSize64 ||
		offset > size || f.UncompressedSize64 > uint64(size-offset) { //nolint:gosec // The difference is not negative.
		return 0, 0, damaged("%s in its ZIP is compressed or not whole", shown(f.Name))
	}
	return offset, int64(f.UncompressedSize64), nil //nolint:gosec // It is at most size.
}

// littleEndian returns an error if f says that the numbers are of the other byte order. Files without f are little-endian.
func littleEndian(r io.ReaderAt, f *zip.File, size int64) error {
	if f == nil {
		return nil
	}
	offset, count, err := stored(f, size)
	if err != nil {
		return err
	}
	var order [6]byte
	if _, err := r.ReadAt(order[:min(count, int64(len(order)))], offset); err != nil {
		return err
	}
	if string(order[:]) != "little" {
		return refused("The checkpoint was written on a big-endian machine, so it is not converted. Ask its author for safetensors.")
	}
	return nil
}

// magic is the first value of an old file: 0x1950a86a20f9469cfc6c.
const magic long = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"

// openOld reads the format of torch before 1.6: pickles of a magic number, the format's version, the machine, the tensors, and the keys of
// the storages; then each storage after 8 bytes with its count of numbers.
func openOld(r io.ReaderAt, size int64) (any, error) {
	in, byKey := newSource(r, 0, size), map[string]*storage{}
	var values [5]any
	for i := range values {
		keep := storageTable{byKey, func(*storage) error { return nil }}.get
		if i != 3 {
			keep = nil
		}
		v, err := load(in, keep)
		if err != nil {
			return nil, err
		}
		if i == 0 && v != magic {
			return nil, noCheckpoint
		}
		values[i] = v
	}
	if machine, isDict := values[2].(*dict); isDict {
		for i, key := range machine.keys {
			if key == "little_endian" && machine.values[i] != true {
				return nil, refused("The checkpoint was written on a big-endian machine, so it is not converted. Ask its author for safetensors.")
			}
		}
	}
	keys, isList := values[4].(*list)
	if !isList {
		return nil, damaged("it has no list of storages")
	}
	return values[3], placeOld(r, size, in.read, keys.items, byKey)
}

// placeOld finds the storages, which lie one after the other from offset on.
func placeOld(r io.ReaderAt, size, offset int64, keys []any, byKey map[string]*storage) error {
	const count = 8
	for _, key := range keys {
		name, _ := key.(string)
		s := byKey[name]
		if s == nil || s.placed {
			return damaged("it lists a storage that no tensor has")
		}
		var b [count]byte
		if offset > size-count {
			return damaged("it ends before the storage %s", shown(name))
		}
		if _, err := r.ReadAt(b[:], offset); err != nil {
			return err
		}
		offset += count
		claimed := binary.LittleEndian.Uint64(b[:])
		if claimed != uint64(s.numbers) || s.numbers > (size-offset)/s.kind.size { //nolint:gosec // It is not negative.
			return damaged("the storage %s claims %d numbers and the file has %d bytes left", shown(name), claimed, size-offset)
		}
		s.offset, s.placed = offset, true
		offset += s.numbers * s.kind.size
	}
	for name, s := range byKey {
		if !s.placed {
			return damaged("it lacks the storage %s", shown(name))
		}
	}
	return nil
}
