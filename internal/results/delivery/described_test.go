package delivery

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// TestOnlyASmallPictureThatTheRunNamesIsShown: the trainer is not trusted, so what it wants to be drawn is looked at.
func TestOnlyASmallPictureThatTheRunNamesIsShown(t *testing.T) {
	t.Parallel()
	drawn := func(width int) []byte {
		var out bytes.Buffer
		require.NoError(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, width, 1))))
		return out.Bytes()
	}
	for name, tc := range map[string]struct {
		file  string
		body  []byte
		shown bool
		want  Show
	}{
		"a picture":                      {"overlay.png", drawn(maxShownSide), true, ShowPicture},
		"a picture that is not named":    {"overlay.png", drawn(8), false, ShowNone},
		"a picture that is too wide":     {"overlay.png", drawn(maxShownSide + 1), true, ShowNone},
		"a picture of too many bytes":    {"overlay.png", append(drawn(8), make([]byte, maxShownBytes)...), true, ShowNone},
		"a page with the name of one":    {"overlay.png", []byte("<script>alert(1)</script>"), true, ShowNone},
		"a picture with the name of CSV": {"overlay.csv", drawn(8), true, ShowPicture},
		"half a header":                  {"overlay.png", drawn(8)[:12], true, ShowNone},
		"nothing":                        {"overlay.png", nil, true, ShowNone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.New(t)
			f.Write(t, "out/"+tc.file, tc.body)
			f.List(t, "out/"+tc.file)
			o := &f.Result.Outputs[len(f.Result.Outputs)-1]
			o.Title, o.Shown = "Overlay", tc.shown
			f.WriteJSON(t, results.ResultFile, f.Result)
			artifacts, err := Build(t.Context(), f.Run(), f.Run().In("deliver"), &f.Result, f.Meta)
			require.NoError(t, err)
			for _, a := range artifacts {
				if a.Name == tc.file {
					require.Equal(t, tc.want, a.Show)
					require.Equal(t, tc.want == ShowPicture, a.ContentType == typePNG)
					return
				}
			}
			require.Fail(t, "it is not delivered")
		})
	}
}
