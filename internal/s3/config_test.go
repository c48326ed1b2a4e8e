package s3

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestReadConfig(t *testing.T) {
	t.Parallel()
	read := func(text string) (Config, error) {
		path := filepath.Join(t.TempDir(), "s3.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return ReadConfig(path)
	}
	c, err := read(`places:
- {bucket: public, endpoint: "https://s3.example.org", access: read}
- bucket: lab
  prefix: shared/runs
  endpoint: http://minio.lab:9000
  private: true
  region: us-east-1
  access: read-write
  users: [Ada@example.org]
  credentials: {file: /keys/lab, profile: lab}
`)
	require.NoError(t, err)
	require.Len(t, c.Places, 2)
	require.Equal(t, Credentials{File: "/keys/lab", Profile: "lab"}, c.Places[1].Credentials)

	for name, tc := range map[string]struct{ text, want string }{
		"a misspelt key":         {`places: [{bucket: data, endpint: x}]`, `unknown field "endpint"`},
		"no endpoint":            {`places: [{bucket: data, access: read}]`, "places[0].endpoint: must be https://host"},
		"http for a public host": {`places: [{bucket: data, access: read, endpoint: "http://s3.example.org"}]`, "places[0].endpoint"},
		"a path in the endpoint": {`places: [{bucket: data, access: read, endpoint: "https://s3.example.org/data"}]`, "places[0].endpoint"},
		"keys in the endpoint":   {`places: [{bucket: data, access: read, endpoint: "https://a:b@s3.example.org"}]`, "places[0].endpoint"},
		"another access":         {`places: [{bucket: data, access: all, endpoint: "https://s3.example.org"}]`, `access: "all" must be read, write or read-write`},
		"a bad prefix":           {`places: [{bucket: data, access: read, prefix: /a/, endpoint: "https://s3.example.org"}]`, "places[0].prefix"},
		"two credentials": {
			`places: [{bucket: data, access: read, endpoint: "https://s3.example.org", credentials: {environment: AWS, webIdentity: true}}]`, "set at most one",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := read(tc.text)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestPlacesOfOtherUsersLookLikeNone(t *testing.T) {
	t.Parallel()
	c := Config{Places: []Place{
		{Bucket: "public", Access: read, Region: "public"},
		{Bucket: "lab", Access: read, Region: "lab"},
		{Bucket: "lab", Prefix: "ada", Access: readWrite, Users: []string{"Ada@Example.org"}, Region: "ada"},
		{Bucket: "study", Access: readWrite, Users: []string{"ada@example.org"}, Datasets: []string{"d1"}, Region: "study"},
		{Bucket: "inbox", Access: write, Region: "inbox"},
	}}
	ada, bob := Requester{User: "ada@example.org", Dataset: "d1"}, Requester{User: "bob@example.org", Dataset: "d1"}
	for name, tc := range map[string]struct {
		address, access string
		who             Requester
		want            string // the region, empty for a refusal
	}{
		"everybody's":               {"s3://public/a", read, bob, "public"},
		"everybody's, to write":     {"s3://public/a", write, bob, ""},
		"the longest prefix":        {"s3://lab/ada/runs", read, ada, "ada"},
		"the prefix itself":         {"s3://lab/ada", write, ada, "ada"},
		"a name with that prefix":   {"s3://lab/adamant", write, ada, ""},
		"a folder of somebody else": {"s3://lab/ada/runs", write, bob, ""},
		"the rest of the bucket":    {"s3://lab/ada/runs", read, bob, "lab"},
		"a dataset":                 {"s3://study", write, ada, "study"},
		"another dataset":           {"s3://study", read, Requester{User: ada.User, Dataset: "d2"}, ""},
		"nobody":                    {"s3://study", read, Requester{Dataset: "d1"}, ""},
		"only to write":             {"s3://inbox/a", read, ada, ""},
		"an unknown bucket":         {"s3://other", read, ada, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := ParseAddress(tc.address)
			require.NoError(t, err)
			place, err := c.find(a, tc.who, tc.access)
			if tc.want != "" {
				require.NoError(t, err)
				require.Equal(t, tc.want, place.Region)
				return
			}
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.ErrorContains(t, err, "ask the administrator of the extractor to add it to S3_SOURCES for you")
		})
	}
}
