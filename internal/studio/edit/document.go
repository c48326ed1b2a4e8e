package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// maxText is the size in bytes of the largest file that the editor opens and saves.
const maxText = 1 << 20

// maxHistory is how many versions of a file are listed.
const maxHistory = 100

// suffixes are the endings of names of the files that the editor opens.
var suffixes = []string{".yaml", ".yml", ".json", ".toml", ".py", ".md", ".txt"} //nolint:gochecknoglobals // a constant

// Editable reports whether the editor opens files of this name.
func Editable(name string) bool { return slices.Contains(suffixes, strings.ToLower(path.Ext(name))) }

// Document is a text file with its newest version, or an older one.
type Document struct {
	File clowder.FileState
	Role clowder.Role
	Text string
	// Tag identifies the newest version: its number and its id in the object store.
	Tag string
	// ReadOnly says why the visitor cannot save it, and Do what they can do; empty where they can.
	ReadOnly, Do string
	// Unreadable says that the text cannot be shown, for the reason in ReadOnly.
	Unreadable bool
	// Login says that another way to log in would allow to save.
	Login bool
}

// tagOf identifies a version.
func tagOf(number int, id string) string { return fmt.Sprintf("%d-%s", number, url.PathEscape(id)) }

func tag(f clowder.FileState) string { return tagOf(f.Version, f.VersionID) }

// numberOf returns the number of the version that a tag names.
func numberOf(tag string) (number int) {
	_, _ = fmt.Sscanf(tag, "%d-", &number) // another tag names version 0, which no file has
	return number
}

// allowed returns the role of the visitor in a dataset if it is at least as high as needed. What is no id belongs to nothing.
func (s *Section) allowed(ctx context.Context, dataset string, needed clowder.Role) (clowder.Role, error) {
	if clowder.CheckIDs("dataset", dataset) != nil {
		return clowder.NoRole, web.NotFound
	}
	return web.CheckRole(ctx, s.rights, dataset, needed)
}

// state reads a file of the dataset if the visitor has at least this role in it. A file of another dataset is not there.
func (s *Section) state(ctx context.Context, dataset, file string, needed clowder.Role) (clowder.FileState, clowder.Role, error) {
	role, err := s.allowed(ctx, dataset, needed)
	if err != nil {
		return clowder.FileState{}, role, err
	}
	if clowder.CheckIDs("file", file) != nil {
		return clowder.FileState{}, role, web.NotFound
	}
	state, err := filesOf(ctx).FileState(ctx, file)
	if err != nil {
		return clowder.FileState{}, role, err
	}
	if state.DatasetID != dataset || !Editable(state.Name) {
		return clowder.FileState{}, role, web.NotFound
	}
	return state, role, nil
}

// open reads the newest version of a file.
func (s *Section) open(ctx context.Context, dataset, file string) (Document, error) {
	state, role, err := s.state(ctx, dataset, file, clowder.RoleViewer)
	if err != nil {
		return Document{}, err
	}
	d := Document{File: state, Role: role, Tag: tag(state)}
	d.ReadOnly, d.Do, d.Login = mayNotSave(web.VisitorOf(ctx), role, state)
	var why string
	if d.Text, why, err = s.text(ctx, state, 0); err != nil {
		return Document{}, err
	}
	if why != "" {
		d.ReadOnly, d.Do, d.Login, d.Unreadable = why, "Open it in Clowder.", false, true
	}
	return d, nil
}

// text reads a version of a file, the newest one for number 0. If the editor cannot show it, the text is empty and why says the reason.
func (s *Section) text(ctx context.Context, f clowder.FileState, number int) (text, why string, err error) {
	body, err := filesOf(ctx).ReadFile(ctx, f.File, number, maxText)
	if errors.Is(err, clowder.ErrFileTooLarge) {
		return "", "This file is larger than 1 MB.", nil
	}
	if why = unreadable(body); err != nil || why != "" {
		return "", why, err
	}
	return string(body), "", nil
}

// mayNotSave returns why the visitor cannot save a new version, and what they can do; empty where they can.
func mayNotSave(v *web.Visitor, role clowder.Role, f clowder.FileState) (why, do string, login bool) {
	switch {
	case f.InFlight:
		return "Somebody is uploading this file.", "Come back when its upload has ended.", false
	case f.Frozen:
		return "Read only: this file is part of a published version of the dataset.", "Open the file of the dataset itself.", false
	case !f.KeepsVersions():
		return "Read only: Clowder keeps no versions of this file, because it is stored elsewhere.", "Save a copy.", false
	case !role.CanEdit():
		return "Read only: you are " + string(role) + " of this dataset.", "Ask an owner of the dataset for the role editor.", false
	case !v.CanSave:
		return "Read only: Clowder takes new versions only from a login with its Keycloak.", "Log in with Keycloak, or save a copy.", true
	}
	return "", "", false
}

// unreadable returns why these bytes are no text, empty if they are.
func unreadable(body []byte) string {
	switch {
	case !utf8.Valid(body):
		return "This file is not UTF-8 text."
	case bytes.IndexByte(body, 0) >= 0:
		return "This file is not text."
	}
	return ""
}

// checkText refuses a text that cannot be saved.
func checkText(text string) error {
	problem := &web.Problem{Type: "text", Title: "This text cannot be saved", Status: http.StatusUnprocessableEntity, Do: "Remove what is no text, then save again."}
	switch problem.Detail = unreadable([]byte(text)); {
	case len(text) > maxText:
		problem.Status, problem.Detail = http.StatusRequestEntityTooLarge, "It is larger than 1 MB."
		problem.Do = "Make it shorter, or upload it in Clowder."
		return problem
	case problem.Detail != "":
		return problem
	}
	return nil
}

// version reads the text of one version by its number.
func (s *Section) version(ctx context.Context, f clowder.FileState, number int) (string, error) {
	text, why, err := s.text(ctx, f, number)
	if err == nil && why != "" {
		problem := &web.Problem{Type: "text", Title: "Not a text", Status: http.StatusConflict, Detail: why, Do: "Open it in Clowder."}
		err = fmt.Errorf("%w: %w", errNoText, problem)
	}
	return text, err
}

// errNoText is wrapped by the error about a version that the editor cannot show.
var errNoText = errors.New("no text")

// Saved is a version of a file as people see it.
type Saved struct {
	Number int       `json:"number"`
	Tag    string    `json:"tag" doc:"For If-Match"`
	By     string    `json:"by" doc:"E-mail address of who saved it"`
	At     time.Time `json:"at"`
	Bytes  int64     `json:"bytes"`
	// Twice says that another version has the same number, because two people saved in the same instant.
	Twice bool `json:"same_number,omitempty" doc:"Another version has the same number, because two people saved in the same instant"`
}

func savedOf(f clowder.FileState) Saved {
	return Saved{Number: f.Version, Tag: tag(f), By: f.Creator, At: f.SavedAt, Bytes: f.Size}
}

// history lists the versions of a file, newest first.
func (s *Section) history(ctx context.Context, f clowder.FileState) ([]Saved, error) {
	versions, err := filesOf(ctx).Versions(ctx, f.ID, maxHistory)
	if err != nil {
		return nil, err
	}
	count := make(map[int]int)
	for _, v := range versions {
		count[v.Number]++
	}
	out := make([]Saved, 0, len(versions))
	for _, v := range versions {
		out = append(out, Saved{Number: v.Number, Tag: tagOf(v.Number, v.ID), By: v.Creator, At: v.SavedAt, Bytes: v.Size, Twice: count[v.Number] > 1})
	}
	return out, nil
}
