package s3

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Config is the file of the administrator.
type Config struct {
	Places []Place `json:"places"`
}

// Place is a bucket, or a folder in it, that users may name.
type Place struct {
	Bucket string `json:"bucket"`
	Prefix string `json:"prefix,omitempty"`
	// Endpoint is the address of the store, e.g. https://s3.example.org; its host is contacted and no other.
	Endpoint string `json:"endpoint"`
	Region   string `json:"region,omitempty"`
	// Private allows an endpoint in a private network or on this machine. Otherwise an address of that kind is refused.
	Private bool `json:"private,omitempty"`
	// Access is read, write or read-write.
	Access string `json:"access"`
	// Users are e-mail addresses, Datasets ids in Clowder. If both are empty, every user may use the place; if both are set, both
	// must match.
	Users    []string `json:"users,omitempty"`
	Datasets []string `json:"datasets,omitempty"`
	// Credentials says where the keys are found.
	Credentials Credentials `json:"credentials,omitzero"`
}

// Credentials names the source of the keys of a place. No source means requests without a signature.
type Credentials struct {
	// Environment is the prefix of the environment variables: with AWS, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, if set,
	// AWS_SESSION_TOKEN.
	Environment string `json:"environment,omitempty"`
	// File is a file in the format of the AWS command line, Profile its section. It is read again when it changes.
	File    string `json:"file,omitempty"`
	Profile string `json:"profile,omitempty"`
	// WebIdentity uses the token of the pod and the role that AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN name, or the role of the
	// machine.
	WebIdentity bool `json:"webIdentity,omitempty"`
}

// The values of Place.Access.
const (
	read      = "read"
	write     = "write"
	readWrite = "read-write"
)

// ReadConfig reads a file with places. Unknown fields are errors, so that a misspelt setting is found at the start.
func ReadConfig(path string) (Config, error) {
	doc, err := os.ReadFile(path)
	if err != nil {
		return Config{}, err
	}
	var c Config
	if err := yaml.UnmarshalStrict(doc, &c); err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	if err := c.validate(); err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// validate reports all invalid fields at once.
func (c Config) validate() error {
	var faults []error
	for i, p := range c.Places {
		for _, fault := range p.faults() {
			faults = append(faults, fmt.Errorf("places[%d].%s", i, fault))
		}
	}
	return errors.Join(faults...)
}

func (p Place) faults() (faults []string) {
	expect := func(ok bool, fault string) {
		if !ok {
			faults = append(faults, fault)
		}
	}
	expect(bucketForm.MatchString(p.Bucket), fmt.Sprintf("bucket: %q is not the name of a bucket", p.Bucket))
	expect(p.Prefix == "" || checkKey(p.Prefix) == nil, fmt.Sprintf("prefix: %q must be a path without slashes at its ends", p.Prefix))
	expect(slices.Contains([]string{read, write, readWrite}, p.Access), fmt.Sprintf("access: %q must be read, write or read-write", p.Access))
	address, err := url.Parse(p.Endpoint)
	expect(err == nil && (address.Scheme == "https" || address.Scheme == "http" && p.Private) && address.Host != "" && address.User == nil &&
		strings.Trim(address.Path, "/") == "" && address.RawQuery == "" && address.Fragment == "",
		"endpoint: must be https://host, or with private: true http://host:port")
	sources := 0
	for _, set := range []bool{p.Credentials.Environment != "", p.Credentials.File != "", p.Credentials.WebIdentity} {
		if set {
			sources++
		}
	}
	expect(sources <= 1, "credentials: set at most one of environment, file and webIdentity")
	return faults
}

// Requester asks for a place.
type Requester struct {
	// User is the e-mail address, Dataset the id in Clowder of the dataset that is worked on.
	User, Dataset string
}

// find returns the place of an address with the longest prefix that the user may use in this way. The error is permanent, for the
// user, and the same for a place that does not exist and for one of other users.
func (c Config) find(a Address, who Requester, access string) (Place, error) {
	best := -1
	for i, p := range c.Places {
		if p.covers(a) && p.allows(who) && (p.Access == readWrite || p.Access == access) && (best < 0 || len(p.Prefix) > len(c.Places[best].Prefix)) {
			best = i
		}
	}
	if best < 0 {
		verb := "read from"
		if access == write {
			verb = "written to"
		}
		return Place{}, job.Permanent(fmt.Errorf("%s cannot be %s here: ask the administrator of the extractor to add it to S3_SOURCES for you", a, verb))
	}
	return c.Places[best], nil
}

func (p Place) covers(a Address) bool {
	return p.Bucket == a.Bucket && (p.Prefix == "" || a.Prefix == p.Prefix || strings.HasPrefix(a.Prefix, p.Prefix+"/"))
}

func (p Place) allows(who Requester) bool {
	user := len(p.Users) == 0 || slices.ContainsFunc(p.Users, func(one string) bool { return who.User != "" && strings.EqualFold(one, who.User) })
	return user && (len(p.Datasets) == 0 || slices.Contains(p.Datasets, who.Dataset))
}
