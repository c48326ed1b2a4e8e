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
