package s3

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]Address{
		"s3://data":               {Bucket: "data"},
		"s3://data/":              {Bucket: "data"},
		"s3://data/a/b":           {Bucket: "data", Prefix: "a/b"},
		"s3://data/a/b/":          {Bucket: "data", Prefix: "a/b"},
		"s3://data.of.us/ä b.csv": {Bucket: "data.of.us", Prefix: "ä b.csv"},
	} {
		a, err := ParseAddress(address)
		require.NoError(t, err, address)
		require.Equal(t, want, a)
		again, err := ParseAddress(a.String())
		require.NoError(t, err)
		require.Equal(t, want, again)
	}
	for name, address := range map[string]string{
		"nothing":             "",
		"a URL":               "https://store.example.org/data",
		"a host with a port":  "s3://store:9000/data",
		"a user":              "s3://key:secret@data/a",
		"capital letters":     "s3://Data/a",
		"no bucket":           "s3:///a",
		"dots":                "s3://data/../other",
		"an empty part":       "s3://data/a//b",
		"a backslash":         "s3://data/a\\b",
		"a control character": "s3://data/a\nb",
		"a long key":          "s3://data/" + strings.Repeat("a", maxKey+1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseAddress(address)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.ErrorContains(t, err, "write s3://bucket/folder")
		})
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add("s3://data/a/b/")
	f.Add("s3://x")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAddress(text)
		if err != nil {
			return
		}
		again, err := ParseAddress(a.String())
		require.NoError(t, err)
		require.Equal(t, a, again)
		name, ok := a.below(a.key("one"))
		require.True(t, ok)
		require.Equal(t, "one", name)
	})
}
