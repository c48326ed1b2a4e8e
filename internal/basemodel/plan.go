package basemodel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// maxConfig and maxCard are the sizes in bytes of the largest config.json and README.md that are read before an installation.
	maxConfig = 4 << 20
	maxCard   = 1 << 20
	// maxLicense is the number of characters of a license.
	maxLicense = 120
)

// Options is what the operator says about an installation.
type Options struct {
	// Name is <org>/<name>, or empty to take the name of the source.
	Name string
	// License is taken where the model names none.
	License string
	Hints   Hints
	// Default marks the model as the one that a training takes when its user chooses none.
	Default bool
}

// Plan is an installation that has not begun.
type Plan struct {
	ID    string
	Offer Offer
	// Files are the files that are loaded, of Bytes in total.
	Files []File
	Bytes int64
	// Facts has no kind if only the weights can tell it.
	Facts   Facts
	License string
	// Loaded is how many bytes an earlier attempt has left. Room is what is still needed on the shared volume, in bytes.
	Loaded, Room int64
	// Installed is what has the name now, or nil. Done is true if it is this very model.
	Installed *Model
	Done      bool

	source  Source
	options Options
}

// Plan looks at a source. It loads nothing but config.json and the card. Its errors are permanent where another source or option is
// needed.
func (s *Store) Plan(ctx context.Context, source Source, o Options) (*Plan, error) {
	offer, err := source.Look(ctx)
	if err != nil {
		return nil, err
	}
	p := &Plan{ID: o.Name, Offer: offer, source: source, options: o}
	if p.ID == "" {
		p.ID = offer.ID
	}
	if p.ID == "" {
		return nil, job.Permanent(sentence("The model does not say its name. Give it one with --name owner/name."))
	}
	if err := CheckID(p.ID); err != nil {
		return nil, err
	}
	if p.Files, err = choose(offer); err != nil {
		return nil, err
	}
	for _, f := range p.Files {
		p.Bytes += f.Size
	}
	if offer.Source != SourceHub && !offer.Described {
		if err := p.hash(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.inspect(ctx); err != nil {
		return nil, err
	}
	return p, s.survey(p)
}

// inspect reads what the small files say.
func (p *Plan) inspect(ctx context.Context) error {
	config, err := p.read(ctx, configFile, maxConfig)
	if err != nil {
		return err
	}
	names := make([]string, len(p.Offer.Files))
	for i, f := range p.Offer.Files {
		names[i] = f.Path
	}
	if p.Facts, err = Inspect(config, names, p.options.Hints); err != nil {
		return err
	}
	p.License = p.Offer.License
	if p.License == "" {
		card, err := p.read(ctx, cardFile, maxCard)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		p.License = cardLicense(card)
	}
	if p.options.License != "" {
		p.License = text.Excerpt(p.options.License, maxLicense)
	}
	if p.License == "" {
		return job.Permanent(sentence("The model names no license. Its use may not be allowed. Install it with --license TEXT if you know better."))
	}
	if p.options.Default && !suitsAll(p.License) {
		return job.Permanent(sentence("The license of the model is %s, which is not for all uses, so trainings do not take it by themselves. Install it without --default; users can choose it by its name.", p.License))
	}
	return nil
}

// read reads a small file of the source. The error wraps fs.ErrNotExist if there is none.
func (p *Plan) read(ctx context.Context, name string, limit int64) (doc []byte, err error) {
	for _, f := range p.Files {
		if f.Path != name {
			continue
		}
		if f.Size > limit {
			return nil, job.Permanent(sentence("%s has %s, which is more than %s of a model can have.", name, text.Bytes(f.Size), name))
		}
		if f.Size == 0 {
			return nil, nil
		}
		r, err := p.source.Open(ctx, f, 0)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		return io.ReadAll(io.LimitReader(r, f.Size))
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// survey looks at the shared volume: what is installed, what is loaded, and whether there is room for the rest.
func (s *Store) survey(p *Plan) error {
	root, err := s.folder.Make()
	if err != nil {
		return diskError("open the folder of models", err)
	}
	defer func() { _ = root.Close() }()
	p.look(root)
	if p.Done {
		return nil
	}
	p.Loaded = p.loaded(root)
	p.Room = p.Bytes - p.Loaded
	if free, known := disk.Free(s.folder.Path()); known && free < p.Room {
		return job.Permanent(sentence("This model needs %s and %s are free in the shared volume. Free some, or install a smaller one.", text.Bytes(p.Room), text.Bytes(free)))
	}
	return nil
}

// look reads what has the name of the plan now.
func (p *Plan) look(root *os.Root) {
	p.Installed, p.Done = nil, false
	m, err := readModel(root, p.ID)
	if err != nil {
		return
	}
	p.Installed = m
	p.Done = m.ID == p.ID && m.Commit == p.Offer.Commit && m.License == p.License && (m.Digest == p.digest() || p.isCopy(m)) && p.allThere(root, m)
}

// isCopy reports whether the source is a copy of an installed model, as in a bundle.
func (p *Plan) isCopy(m *Model) bool {
	var files []ModelFileEntry
	for _, f := range p.Files {
		files = append(files, ModelFileEntry{Path: f.Path, Size: f.Size, SHA256: f.SHA256})
	}
	return p.Offer.Described && slices.Equal(files, m.Files)
}

// allThere reports whether the files of an installed model have their sizes.
func (p *Plan) allThere(root *os.Root, m *Model) bool {
	for _, f := range m.Files {
		if info, err := root.Lstat(m.ID + "/" + f.Path); err != nil || !info.Mode().IsRegular() || info.Size() != f.Size {
			return false
		}
	}
	return true
}

// digest is a sha256 over the files that are loaded. A source that knows no hashes gives the same one for files of the same names and sizes.
func (p *Plan) digest() string {
	sum := sha256.New()
	for _, f := range p.Files {
		_, _ = fmt.Fprintf(sum, "%q %d %s %s\n", f.Path, f.Size, f.SHA256, f.GitSHA1)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// part is the folder of the installation in progress. Its name says what is in it, so that another revision never goes on with it.
func (p *Plan) part() string { return partFolder + "/" + flat(p.ID) + "@" + p.digest()[:40] }

// hash reads the files of a source on this machine, which knows no hashes. So a second installation of the same files has nothing to do, and
// a file that changes while it is copied is found.
func (p *Plan) hash(ctx context.Context) error {
	for i, f := range p.Files {
		r, err := p.source.Open(ctx, f, 0)
		if err != nil {
			return err
		}
		sum := sha256.New()
		size, err := io.Copy(sum, withContext{ctx, io.LimitReader(r, f.Size+1)})
		_ = r.Close()
		switch {
		case err != nil:
			return job.Permanent(sentence("%s cannot be read: %w.", clip(f.Path), err))
		case size != f.Size:
			return job.Permanent(sentence("%s has another size than its source says. Make the file once more.", clip(f.Path)))
		}
		p.Files[i].SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return nil
}

// loaded counts the bytes that an earlier attempt has left.
func (p *Plan) loaded(root *os.Root) int64 {
	var sum int64
	for _, f := range p.Files {
		if info, err := root.Lstat(p.part() + "/" + f.Path); err == nil && info.Mode().IsRegular() && f.hasHash() {
			sum += min(info.Size(), f.Size)
		}
	}
	return sum
}

// cardLicense reads the license from the head of a card, which is YAML between two lines of dashes. A card without a head names none.
func cardLicense(card []byte) string {
	head, found := strings.CutPrefix(strings.ReplaceAll(string(card), "\r\n", "\n"), "---\n")
	if !found {
		return ""
	}
	head, _, found = strings.Cut(head, "\n---")
	var fields struct {
		License     any    `json:"license"`
		LicenseName string `json:"license_name"`
	}
	if !found || len(head) > 64<<10 || yaml.Unmarshal([]byte(head), &fields) != nil {
		return ""
	}
	var names []string
	switch license := fields.License.(type) {
	case string:
		names = []string{license}
	case []any:
		for _, one := range license {
			if name, ok := one.(string); ok {
				names = append(names, name)
			}
		}
	}
	all := strings.Join(names, ", ")
	if all == "other" && fields.LicenseName != "" {
		all = fields.LicenseName
	}
	return text.Excerpt(all, maxLicense)
}
