package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// maxFiles is the largest number of files of a model that is read. It also limits the pages of a listing.
	maxFiles = 20_000
	// maxCommas limits the members of all lists and objects of an answer, because a decoded member can take many times its text.
	maxCommas = 500_000
)

// Info is what the Hub says about one revision of a model.
type Info struct {
	ID string
	// Commit is what the revision means now. Files are loaded by it, because a branch moves.
	Commit string
	// License is what the card of the model names, or empty.
	License string
	Files   []File
}

// File is one file of a commit. Size is in bytes. A large file has a SHA256, the others have the name that git gives to their content, a
// sha1. Both are in hex.
type File struct {
	Path            string
	Size            int64
	SHA256, GitSHA1 string
}

// Info asks for a revision of a model: a branch, a tag, a commit or refs/pr/N; empty means main.
func (c *Client) Info(ctx context.Context, id, revision string) (Info, error) {
	if err := checkID(id); err != nil {
		return Info{}, err
	}
	if revision == "" {
		revision = "main"
	}
	t := target{id: id, revision: revision}
	var answer infoAnswer
	if _, err := c.get(ctx, t, c.infoURL(id, revision), answer.decode); err != nil {
		return Info{}, err
	}
	switch {
	case answer.Disabled:
		return Info{}, job.Permanent(sentence("The Hub has disabled %s. Choose another model.", id))
	case bool(answer.Gated) && c.cfg.Token == "":
		return Info{}, job.Permanent(gated(id))
	}
	info := Info{ID: id, Commit: answer.SHA, License: answer.license(), Files: answer.files()}
	if answer.hasSizes() {
		return info, nil
	}
	files, err := c.tree(ctx, t, info.Commit)
	info.Files = files
	return info, err
}

// tree lists all files of a commit, for mirrors that leave the sizes out of their first answer.
func (c *Client) tree(ctx context.Context, t target, commit string) ([]File, error) {
	var files []File
	address := c.treeURL(t.id, commit)
	for range maxFiles {
		var page treePage
		next, err := c.get(ctx, t, address, page.decode)
		if err != nil {
			return nil, err
		}
		files = append(files, page.files()...)
		if len(files) > maxFiles {
			return nil, job.Permanent(sentence("The model %s has more than %d files.", t.id, maxFiles))
		}
		if next == "" || len(page) == 0 {
			return files, nil
		}
		if address, err = c.samePlace(address, next); err != nil {
			return nil, err
		}
	}
	return nil, job.Permanent(sentence("The list of files of %s does not end. Check --endpoint.", t.id))
}

// samePlace returns the address of a next page. It must belong to the endpoint, because the token is sent to it.
func (c *Client) samePlace(address, next string) (string, error) {
	current, err := url.Parse(address)
	if err == nil {
		current, err = current.Parse(next)
	}
	if err != nil || !c.isEndpoint(current) {
		return "", job.Permanent(sentence("The list of files goes on at another host than %s. Check --endpoint.", c.base.Host))
	}
	return current.String(), nil
}

// linkPattern finds the next page in a header such as Link: <https://host/path?cursor=x>; rel="next".
var linkPattern = regexp.MustCompile(`<([^<>]+)>\s*;\s*rel="?next"?`)

func nextPage(link string) string {
	if found := linkPattern.FindStringSubmatch(link); found != nil {
		return found[1]
	}
	return ""
}

type infoAnswer struct {
	SHA      string      `json:"sha"`
	Gated    gateSetting `json:"gated"`
	Disabled bool        `json:"disabled"`
	CardData cardData    `json:"cardData"`
	Tags     []string    `json:"tags"`
	Siblings []sibling   `json:"siblings"`
}

// sibling is one file. Size is missing in the answer of some mirrors.
type sibling struct {
	Name   string `json:"rfilename"`
	Size   *int64 `json:"size"`
	BlobID string `json:"blobId"`
	LFS    *lfs   `json:"lfs"`
}

// lfs describes a large file. The two listings name its sha256 differently.
type lfs struct {
	SHA256 string `json:"sha256"`
	OID    string `json:"oid"`
}

// gateSetting is false, or how people get in: auto or manual.
type gateSetting bool

// UnmarshalJSON implements json.Unmarshaler.
func (g *gateSetting) UnmarshalJSON(doc []byte) error {
	*g = gateSetting(!bytes.Equal(doc, []byte("false")) && !bytes.Equal(doc, []byte("null")))
	return nil
}

// cardData is the head of the card. Its authors write it by hand, so the license is a text or a list of texts, and the head can be anything.
type cardData struct{ license string }

// UnmarshalJSON implements json.Unmarshaler.
func (d *cardData) UnmarshalJSON(doc []byte) error {
	var head struct {
		License json.RawMessage `json:"license"`
		Name    string          `json:"license_name"`
	}
	if json.Unmarshal(doc, &head) != nil {
		return nil //nolint:nilerr // a card that is no object names no license
	}
	var one string
	var many []string
	switch {
	case json.Unmarshal(head.License, &one) == nil:
	case json.Unmarshal(head.License, &many) == nil:
		one = strings.Join(many, ", ")
	}
	if one == "other" && head.Name != "" {
		one = head.Name
	}
	d.license = clip(one)
	return nil
}

var commitPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (a *infoAnswer) decode(doc []byte) error {
	if err := decode(doc, a); err != nil {
		return err
	}
	switch {
	case !commitPattern.MatchString(a.SHA):
		return errors.New("it names no commit")
	case len(a.Siblings) > maxFiles:
		return fmt.Errorf("it lists more than %d files", maxFiles)
	}
	for _, s := range a.Siblings {
		if s.Size != nil && *s.Size < 0 {
			return errors.New("a size is negative")
		}
	}
	return nil
}

// license is what the card names, or else the tags, which the Hub derives from the card.
func (a *infoAnswer) license() string {
	if a.CardData.license != "" {
		return a.CardData.license
	}
	for _, tag := range a.Tags {
		if name, ok := strings.CutPrefix(tag, "license:"); ok {
			return clip(name)
		}
	}
	return ""
}

func (a *infoAnswer) hasSizes() bool {
	for _, s := range a.Siblings {
		if s.Size == nil {
			return false
		}
	}
	return true
}

func (a *infoAnswer) files() []File {
	files := make([]File, 0, len(a.Siblings))
	for _, s := range a.Siblings {
		f := File{Path: s.Name, GitSHA1: hash(s.BlobID, 40)}
		if s.Size != nil {
			f.Size = *s.Size
		}
		files = append(files, f.large(s.LFS))
	}
	return files
}

type treePage []struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	OID  string `json:"oid"`
	LFS  *lfs   `json:"lfs"`
}

func (p *treePage) decode(doc []byte) error {
	if err := decode(doc, p); err != nil {
		return err
	}
	for _, f := range *p {
		if f.Size < 0 {
			return errors.New("a size is negative")
		}
	}
	return nil
}

func (p *treePage) files() []File {
	var files []File
	for _, f := range *p {
		if f.Type == "file" {
			files = append(files, File{Path: f.Path, Size: f.Size, GitSHA1: hash(f.OID, 40)}.large(f.LFS))
		}
	}
	return files
}

// large returns the file with the sha256 of a large file. Its git name is that of a pointer and not of the content.
func (f File) large(l *lfs) File {
	if l == nil {
		return f
	}
	f.GitSHA1, f.SHA256 = "", hash(l.SHA256, 64)
	if f.SHA256 == "" {
		f.SHA256 = hash(l.OID, 64)
	}
	return f
}

// hash returns a hash with so many digits, or nothing if the text is none.
func hash(text string, digits int) string {
	if len(text) != digits || strings.Trim(text, "0123456789abcdef") != "" {
		return ""
	}
	return text
}

// decode decodes an answer without taking much more memory than it.
func decode(doc []byte, into any) error {
	if bytes.Count(doc, []byte(",")) > maxCommas {
		return errors.New("it holds too many values")
	}
	if err := json.Unmarshal(doc, into); err != nil {
		return errors.New("it is not the JSON of a model")
	}
	return nil
}
