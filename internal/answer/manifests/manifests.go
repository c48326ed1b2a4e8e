// Package manifests writes Kubernetes manifests that serve one version of a registered model in production. Each pins the version by the
// hash of its description, which lists the hashes of all its files. Nothing is applied here.
package manifests

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/text"
)

//go:embed *.tmpl.yaml
var files embed.FS

// The kinds of manifests.
const (
	Deployment = "deployment"
	KServe     = "kserve"
	RayService = "rayservice"
)

// Kinds lists the kinds, the most general first.
var Kinds = []string{Deployment, KServe, RayService}

var templates = template.Must(template.New("").Funcs(template.FuncMap{"quote": quote}).ParseFS(files, "*.tmpl.yaml"))

// Options is what a manifest names besides the version.
type Options struct {
	// Image has the trainer and its packages; a RayService needs one that has ray[serve], too.
	Image string
	// Claim is the claim of the shared volume.
	Claim string
	// RayVersion is the version of Ray in the image of a RayService.
	RayVersion string
}

// The names in the Helm chart's defaults.
const (
	defaultImage = "clowder-ray/ray:0.2.0"
	defaultClaim = "clowder-ray-shared"
	defaultRay   = "2.60.0"
)

// manifest is what the templates see.
type manifest struct {
	Options
	Name, Ref, Dataset, SHA256 string
	// Path is the folder of the version on the shared volume, Labels selects its pods.
	Path    string
	Version string
}

// Write returns the manifest of a kind for a version whose version.json has this sha256. Another kind is an error for the person who asked.
func Write(kind string, v registry.Version, sha256 string, o Options) (string, error) {
	if kind != Deployment && kind != KServe && kind != RayService {
		return "", fmt.Errorf("there is no manifest %q: choose %s", text.Excerpt(kind, 40), text.Choice(Kinds))
	}
	m := manifest{
		Options: Options{cmp.Or(o.Image, defaultImage), cmp.Or(o.Claim, defaultClaim), cmp.Or(o.RayVersion, defaultRay)},
		Name:    name(v), Ref: v.Ref(), Dataset: cmp.Or(v.DatasetID, registry.Local), SHA256: sha256, Version: strconv.Itoa(v.Version),
		Path: path.Join("registry", v.Folder(), v.Name, strconv.Itoa(v.Version)),
	}
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, kind+".tmpl.yaml", m); err != nil {
		return "", fmt.Errorf("write a manifest: %w", err)
	}
	return out.String(), nil
}

// maxName leaves room for what Kubernetes and Ray add to the names of services and pods, which have at most 63 characters.
const maxName = 35

var notAName = regexp.MustCompile(`[^a-z0-9-]+`)

// name is the name of what is made: model-reviews-3. A service's name begins with a letter.
func name(v registry.Version) string {
	number := "-" + strconv.Itoa(v.Version)
	short := "model-" + notAName.ReplaceAllString(v.Name, "-")
	return strings.TrimRight(short[:min(len(short), maxName-len(number))], "-") + number
}

// quote writes a text as YAML: a string of JSON is one of YAML.
func quote(s string) (string, error) {
	doc, err := json.Marshal(s)
	return string(doc), err
}
