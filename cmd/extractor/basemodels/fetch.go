package basemodels

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/hub"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// maxZIP is the size in bytes of the largest ZIP file that is loaded from an address.
const maxZIP = 256 << 30

var sha256Pattern = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

// fetched loads a ZIP file from an https address into a temporary file and opens it. want is its SHA-256 or empty. closeAll removes it.
func (env Environment) fetched(ctx context.Context, address, want string) (sources []basemodel.Source, closeAll func(), err error) {
	if want != "" && !sha256Pattern.MatchString(want) {
		return nil, nil, job.Permanent(errors.New("--sha256 must be 64 hexadecimal digits"))
	}
	file, err := os.CreateTemp("", "model-*.zip")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.Remove(file.Name()) }
	defer func() {
		if err != nil {
			remove()
		}
	}()
	hash := sha256.New()
	cfg := hub.Config{Roots: env.Roots, OnWait: func(wait time.Duration, reason error) {
		_, _ = fmt.Fprintf(env.Stderr, "%s Next attempt in %s.\n", reason, text.Duration(wait))
	}}
	size, err := hub.Fetch(ctx, cfg, address, maxZIP, io.MultiWriter(file, hash))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, nil, err
	}
	got := hex.EncodeToString(hash.Sum(nil))
	if want != "" && !strings.EqualFold(got, want) {
		return nil, nil, job.Permanent(fmt.Errorf("the ZIP file has the SHA-256 %s and not the one in --sha256: it is damaged or another file", got))
	}
	_, _ = fmt.Fprintf(env.Stderr, "loaded %s, SHA-256 %s\n", text.Bytes(size), got)
	archive, err := basemodel.OpenArchive(file.Name())
	if err != nil {
		return nil, nil, err
	}
	return archive.Models(), func() {
		_ = archive.Close()
		remove()
	}, nil
}
