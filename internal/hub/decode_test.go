package hub

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLicenseOfACardIsRead(t *testing.T) {
	t.Parallel()
	for card, want := range map[string]string{
		`{"license": "mit"}`: "mit", `{"license": ["mit", "apache-2.0"]}`: "mit, apache-2.0", `{"license": 3}`: "", `"text"`: "", `null`: "",
		`{"license": "other", "license_name": "gemma"}`: "gemma", `{}`: "", `[]`: "",
	} {
		var d cardData
		require.NoError(t, json.Unmarshal([]byte(card), &d), card)
		require.Equal(t, want, d.license, card)
	}
}

func TestAnAnswerWithMoreValuesThanAModelHasIsRefused(t *testing.T) {
	t.Parallel()
	var a infoAnswer
	require.ErrorContains(t, a.decode([]byte(`{"siblings":[`+strings.Repeat("{},", maxCommas+1)+`{}]}`)), "too many values")
	many := `{"sha":"` + strings.Repeat("a", 40) + `","siblings":[` + strings.Repeat("{},", maxFiles) + `{}]}`
	require.ErrorContains(t, a.decode([]byte(many)), "more than 20000 files")
}

func TestBothListingsDescribeAFileInTheSameWay(t *testing.T) {
	t.Parallel()
	commit, git, sum := strings.Repeat("c", 40), strings.Repeat("a1", 20), strings.Repeat("b2", 32)
	for name, tc := range map[string]struct {
		sibling, entry string
		want           File
	}{
		"a small file": {
			`{"rfilename":"a","size":3,"blobId":"` + git + `"}`, `{"type":"file","path":"a","size":3,"oid":"` + git + `"}`, File{Path: "a", Size: 3, GitSHA1: git},
		},
		"an empty file": {
			`{"rfilename":"a","size":0,"blobId":"` + git + `"}`, `{"type":"file","path":"a","size":0,"oid":"` + git + `"}`, File{Path: "a", GitSHA1: git},
		},
		"a large file, whose git name is that of a pointer": {
			`{"rfilename":"a","size":9,"blobId":"` + git + `","lfs":{"sha256":"` + sum + `"}}`, `{"type":"file","path":"a","size":9,"oid":"` + git + `","lfs":{"oid":"` + sum + `"}}`,
			File{Path: "a", Size: 9, SHA256: sum},
		},
		"a large file without its sha256": {
			`{"rfilename":"a","size":9,"blobId":"` + git + `","lfs":{}}`, `{"type":"file","path":"a","size":9,"oid":"` + git + `","lfs":{}}`, File{Path: "a", Size: 9},
		},
		"a name that is no hash": {
			`{"rfilename":"a","size":9,"blobId":"` + strings.Repeat("g", 40) + `"}`, `{"type":"file","path":"a","size":9,"oid":"` + git + `0"}`, File{Path: "a", Size: 9},
		},
		"a hash in capital letters": {
			`{"rfilename":"a","size":9,"lfs":{"sha256":"` + strings.ToUpper(sum) + `"}}`, `{"type":"file","path":"a","size":9,"lfs":{"oid":"` + strings.ToUpper(sum) + `"}}`, File{Path: "a", Size: 9},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var info infoAnswer
			require.NoError(t, info.decode([]byte(`{"sha":"`+commit+`","siblings":[`+tc.sibling+`]}`)))
			require.True(t, info.hasSizes())
			require.Equal(t, []File{tc.want}, info.files())
			var page treePage
			require.NoError(t, page.decode([]byte(`[{"type":"directory","path":"d"},`+tc.entry+`,{"type":"symlink","path":"l"}]`)))
			require.Equal(t, []File{tc.want}, page.files())
		})
	}
	var info infoAnswer
	require.NoError(t, info.decode([]byte(`{"sha":"`+commit+`","siblings":[{"rfilename":"a","size":3},{"rfilename":"b"}]}`)))
	require.False(t, info.hasSizes(), "one size is missing, so the other listing is asked")
}

func TestAnAnswerThatIsNotThatOfAHubIsRefused(t *testing.T) {
	t.Parallel()
	commit := `"sha":"` + strings.Repeat("c", 40) + `"`
	for doc, want := range map[string]string{
		"": "it is not the JSON of a model", "<html>": "it is not the JSON of a model", "[]": "it is not the JSON of a model", `"text"`: "it is not the JSON of a model",
		"{" + commit + "} {}": "it is not the JSON of a model", `{"sha":1}`: "it is not the JSON of a model", "{" + commit + `,"siblings":{}}`: "it is not the JSON of a model",
		"{}": "it names no commit", "null": "it names no commit", `{"sha":"main"}`: "it names no commit", `{"sha":"` + strings.Repeat("C", 40) + `"}`: "it names no commit",
		`{"sha":"` + strings.Repeat("c", 41) + `"}`:            "it names no commit",
		"{" + commit + `,"siblings":[{"size":1},{"size":-1}]}`: "a size is negative",
		"{" + commit + `,"siblings":[{"size":1.5}]}`:           "it is not the JSON of a model",
	} {
		var a infoAnswer
		require.EqualError(t, a.decode([]byte(doc)), want, doc)
	}
	for doc, want := range map[string]string{"{}": "it is not the JSON of a model", `[{"size":-1}]`: "a size is negative", "[": "it is not the JSON of a model"} {
		var p treePage
		require.EqualError(t, p.decode([]byte(doc)), want, doc)
	}
}

func TestTheCardDecidesTheLicenseAndThenTheTags(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{"cardData":{"license":"mit"},"tags":["license:apache-2.0"]}`: "mit", `{"cardData":{},"tags":["x","license:apache-2.0","license:mit"]}`: "apache-2.0",
		`{"cardData":[1],"tags":["license:mit"]}`: "mit", `{"tags":["my-license:mit"]}`: "", `{"tags":null}`: "",
		`{"cardData":{"license":"` + strings.Repeat("x", 500) + `"}}`: strings.Repeat("x", 119) + "…", `{"tags":["license:a\nb"]}`: "a b",
	} {
		var a infoAnswer
		require.NoError(t, json.Unmarshal([]byte(doc), &a), doc)
		require.Equal(t, want, a.license(), doc)
	}
	for doc, want := range map[string]bool{`{}`: false, `{"gated":false}`: false, `{"gated":null}`: false, `{"gated":"auto"}`: true, `{"gated":"manual"}`: true, `{"gated":true}`: true} {
		var a infoAnswer
		require.NoError(t, json.Unmarshal([]byte(doc), &a), doc)
		require.Equal(t, want, bool(a.Gated), doc)
	}
}

func FuzzDecodeInfo(f *testing.F) {
	f.Add([]byte(`{"sha":"0123456789012345678901234567890123456789","gated":"auto","cardData":{"license":["mit"]},
		"siblings":[{"rfilename":"a","size":1,"blobId":"x","lfs":{"sha256":"y"}},null]}`))
	f.Add([]byte(`[{"type":"file","path":"a","size":1,"oid":"x","lfs":{"oid":"y"}}]`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var a infoAnswer
		if a.decode(doc) == nil {
			require.Regexp(t, commitPattern, a.SHA)
			for _, file := range a.files() {
				require.GreaterOrEqual(t, file.Size, int64(0))
				require.Contains(t, []int{0, 40}, len(file.GitSHA1))
				require.Contains(t, []int{0, 64}, len(file.SHA256))
			}
			require.LessOrEqual(t, len([]rune(a.license())), 120)
		}
		var p treePage
		if p.decode(doc) == nil {
			_ = p.files()
		}
	})
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 100-999/1000")
	f.Add("bytes 0-0/*")
	f.Fuzz(func(t *testing.T, header string) {
		if first, whole, ok := contentRange(header); ok {
			require.GreaterOrEqual(t, first, int64(0))
			require.GreaterOrEqual(t, whole, int64(-1))
		}
	})
}
