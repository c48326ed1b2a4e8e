package requirements

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// protected are the packages of the image whose version never changes: Ray and torch, and what is compiled against them.
var protected = []string{"ray", "torch", "torchvision", "torchaudio", "triton", "numpy", "pyarrow"}

// isProtected reports whether a package of the image keeps its version.
func isProtected(name string) bool {
	return slices.Contains(protected, name) || strings.HasPrefix(name, "nvidia-") || strings.HasPrefix(name, "cuda-")
}

// writeStubs makes a wheel without content and without dependencies for each protected package. They stand for the packages of the image, so
// that uv neither asks the index about them nor follows their dependencies.
func writeStubs(dir string, versions map[string]string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	for name, version := range versions {
		if err := writeStub(dir, strings.ReplaceAll(name, "-", "_"), version); err != nil {
			return fmt.Errorf("write the stub of %s: %w", name, err)
		}
	}
	return nil
}

func writeStub(dir, name, version string) (err error) {
	file, err := os.Create(filepath.Join(dir, name+"-"+version+"-py3-none-any.whl"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	archive := zip.NewWriter(file)
	info := name + "-" + version + ".dist-info/"
	for _, part := range [][2]string{
		{"METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"},
		{"WHEEL", "Wheel-Version: 1.0\nGenerator: clowder-ray\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"RECORD", info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		w, err := archive.Create(info + part[0])
		if err != nil {
			return err
		}
		if _, err := w.Write([]byte(part[1])); err != nil {
			return err
		}
	}
	return archive.Close()
}
