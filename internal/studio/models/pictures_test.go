package models

import (
	"bytes"
	"encoding/base64"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer"
)

// drawn is a PNG in base64.
func drawn(tb testing.TB, width, height int) string {
	tb.Helper()
	var doc bytes.Buffer
	require.NoError(tb, png.Encode(&doc, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black})))
	return base64.StdEncoding.EncodeToString(doc.Bytes())
}

// claimed is the beginning of a PNG that claims to have this size.
func claimed(tb testing.TB, width, height uint16) string {
	tb.Helper()
	doc, err := base64.StdEncoding.DecodeString(drawn(tb, 1, 1))
	require.NoError(tb, err)
	copy(doc[16:], []byte{0, 0, byte(width >> 8), byte(width), 0, 0, byte(height >> 8), byte(height)})
	sum := crc32.ChecksumIEEE(doc[12:29])
	copy(doc[29:], []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	return base64.StdEncoding.EncodeToString(doc)
}

func of(name string, parameters map[string]any, data ...any) answer.Tensor {
	parameters["content_type"] = "image/png"
	return answer.Tensor{Name: name, Datatype: "BYTES", Parameters: parameters, Data: data}
}

func share(labels, colours []any, data ...any) answer.Tensor {
	return answer.Tensor{Name: "share", Parameters: map[string]any{"labels": labels, "colours": colours, "values": []any{0.0, 255.0}}, Data: data}
}

func (f *fixture) pixels() {
	f.register("ponds", "pictures", "net", "ft-9", map[string]string{
		"trainer.json": `{"kind":"pictures","use":{"snippet":"a/a","fields":[{"name":"image","type":"image"}]}}`,
	})
}

func TestPicturesAreShownWithWhatTheirColoursStandFor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.pixels()
	shown, mask := drawn(t, 3, 2), drawn(t, 30, 20)
	f.answers.outputs = []answer.Tensor{
		of("overlay", map[string]any{"shown": true}, shown), of("mask", map[string]any{}, mask),
		share([]any{"ground", `<img src=x onerror=alert(1)>`}, []any{"", "#e69f00"}, 0.25, 0.75),
	}
	page := f.do("carol", "POST", "/models/"+ds+"/ponds/try", form(t, map[string]string{}, map[string]string{"in.image": "a picture"})).Body.String()
	require.Contains(t, page, `src="data:image/png;base64,`+strings.ReplaceAll(shown, "+", "&#43;")+`" width="3" height="2"`)
	require.Contains(t, page, `href="data:image/png;base64,`+strings.ReplaceAll(mask, "+", "&#43;")+`" download="mask.png"`)
	require.Contains(t, page, `fill="#e69f00"`)
	require.Contains(t, page, "&lt;img src=x onerror=alert(1)&gt;")
	require.NotContains(t, page, "<img src=x")
	require.Less(t, strings.Index(page, "75.0 %"), strings.Index(page, "25.0 %"), "the largest share first")
	res := f.do("carol", "POST", "/api/v1/models/"+ds+"/ponds/1/predict", asJSON(`{"rows":[{"image":"YQ=="}]}`))
	require.Equal(t, http.StatusOK, res.Code)
	require.Contains(t, res.Body.String(), `"pictures":[{"name":"overlay","shown":true,"width":3,"height":2,"png":"`+shown+`"},{"name":"mask","width":30,"height":20,"png":"`+mask+`"}]`)
	require.Contains(t, res.Body.String(), `"colour":"#e69f00","value":255,"share":0.75`)
}

func TestSharesAndMeansHaveTheirIntervals(t *testing.T) {
	t.Parallel()
	about := map[string]any{"coverage": 0.9, "of": "share"}
	ends := func(name string, data ...any) answer.Tensor {
		return answer.Tensor{Name: name, Parameters: about, Data: data}
	}
	shares := share([]any{"a", "b"}, []any{"", ""}, 0.2, 0.8)
	rows, err := pictured([]answer.Tensor{of("mask", map[string]any{}, drawn(t, 2, 2)), shares, ends("low", 0.1, 0.7), ends("high", 0.3, 0.9)}, 1)
	require.NoError(t, err)
	require.Equal(t, "70.0 % to 90.0 % (90 % interval)", rows[0].Legend[0].Within)
	require.InDelta(t, 0.1, *rows[0].Legend[1].Low, 0)
	require.InDelta(t, 0.3, *rows[0].Legend[1].High, 0)
	for name, outputs := range map[string][]answer.Tensor{
		"too few":     {shares, ends("low", 0.1, 0.7), ends("high", 0.3)},
		"no high one": {shares, ends("low", 0.1, 0.7)},
		"upside down": {shares, ends("low", 0.4, 0.7), ends("high", 0.3, 0.9)},
	} {
		_, err := pictured(outputs, 1)
		require.Error(t, err, name)
	}
	about["of"] = "mean"
	rows, err = pictured([]answer.Tensor{of("map", map[string]any{}, drawn(t, 2, 2)), {Name: "mean", Data: []any{1.5}}, ends("low", 1.0), ends("high", 2.0)}, 1)
	require.NoError(t, err)
	require.Equal(t, []AnswerValue{{"mean", "1.5, 1 to 2 (90 % interval)"}}, rows[0].Values)
}

func TestNumbersAreShownAsAMapWithItsScale(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.pixels()
	f.answers.outputs = []answer.Tensor{
		of("map", map[string]any{"shown": true, "scale": []any{-1.0, 4.0}, "colours": []any{"#440154", "#2a788e", "#fde725"}}, drawn(t, 3, 2)),
		{Name: "mean", Data: []any{1.25}},
	}
	page := f.do("carol", "POST", "/models/"+ds+"/ponds/try", form(t, map[string]string{}, map[string]string{"in.image": "a picture"})).Body.String()
	require.Contains(t, page, `<stop offset="50.0%" stop-color="#2a788e"/>`)
	require.Contains(t, page, "≤ -1")
	require.Contains(t, page, "≥ 4")
	require.Contains(t, page, "<dt>mean</dt><dd>1.25</dd>")
}

func TestWhatIsUnsureIsShownWithItsSentence(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.pixels()
	scale := func(high float64) []any { return []any{0.0, high} }
	colours := []any{"#440154", "#fde725"}
	f.answers.outputs = []answer.Tensor{
		of("map", map[string]any{"shown": true, "scale": scale(4), "colours": colours}, drawn(t, 3, 2)),
		of("unsure", map[string]any{"shown": true, "scale": scale(9), "colours": colours, "says": []any{"Off by <b>9</b> at most."}}, drawn(t, 5, 7)),
	}
	page := f.do("carol", "POST", "/models/"+ds+"/ponds/try", form(t, map[string]string{}, map[string]string{"in.image": "a picture"})).Body.String()
	require.Contains(t, page, `width="5" height="7"><figcaption class="muted">Off by &lt;b&gt;9&lt;/b&gt; at most.</figcaption>`)
	for _, name := range []string{"map", "unsure"} {
		require.Contains(t, page, `<linearGradient id="scale-`+name+`">`)
		require.Contains(t, page, `fill="url(#scale-`+name+`)"`)
	}
	require.Contains(t, page, "≥ 9")
	res := f.do("carol", "POST", "/api/v1/models/"+ds+"/ponds/1/predict", asJSON(`{"rows":[{"image":"YQ=="}]}`))
	require.Contains(t, res.Body.String(), `"says":"Off by <b>9</b> at most.","scale":{"low":0,"high":9,`)
	require.Contains(t, res.Body.String(), `"scale":{"low":0,"high":4,"colours":["#440154","#fde725"]}}]`, "the scale of the row is that of the answer")
	require.Equal(t, "scale", AnswerPicture{Name: `a" b`}.Gradient())
}

func TestManyClassesAreNotAllNamed(t *testing.T) {
	t.Parallel()
	row := AnsweredRow{}
	for i := range 20 {
		row.Legend = append(row.Legend, AnswerColour{Label: "a", Colour: []string{"#000000", "#0000ff"}[i%2]})
	}
	require.Len(t, row.Named(), mostColours)
	require.Equal(t, 8, row.More())
	require.True(t, row.Repeats())
	require.False(t, AnsweredRow{Legend: row.Legend[:2]}.Repeats())
}

func TestPicturesThatAreNoneAreNotShown(t *testing.T) {
	t.Parallel()
	good := drawn(t, 2, 2)
	labels := []any{"a", "b"}
	for name, outputs := range map[string][]answer.Tensor{
		"no base64":               {of("mask", map[string]any{}, `"><script>`)},
		"nothing":                 {of("mask", map[string]any{})},
		"an empty text":           {of("mask", map[string]any{}, "")},
		"a number":                {of("mask", map[string]any{}, 7.0)},
		"markup in place of PNG":  {of("mask", map[string]any{}, base64.StdEncoding.EncodeToString([]byte("<svg onload='alert(1)'/>")))},
		"a GIF":                   {of("mask", map[string]any{}, base64.StdEncoding.EncodeToString([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00")))},
		"a size beyond the limit": {of("mask", map[string]any{}, claimed(t, 60000, 60000))},
		"a colour with markup":    {of("mask", map[string]any{}, good), share(labels, []any{"", `red" onload="`}, 0.5, 0.5)},
		"too few colours":         {of("mask", map[string]any{}, good), share(labels, []any{""}, 0.5, 0.5)},
		"too few shares":          {of("mask", map[string]any{}, good), share(labels, []any{"", ""}, 0.5)},
		"a share beyond one":      {of("mask", map[string]any{}, good), share(labels, []any{"", ""}, 0.5, 1.5)},
		"a label that is none":    {of("mask", map[string]any{}, good), share([]any{"a", 7.0}, []any{"", ""}, 0.5, 0.5)},
		"a scale of one colour":   {of("map", map[string]any{"scale": []any{0.0, 1.0}, "colours": []any{"#000000"}}, good)},
		"a scale upside down":     {of("map", map[string]any{"scale": []any{1.0, 0.0}, "colours": []any{"#000000", "#ffffff"}}, good)},
		"a scale without an end":  {of("map", map[string]any{"scale": []any{1.0}, "colours": []any{"#000000", "#ffffff"}}, good)},
		"a value that is none":    {of("map", map[string]any{}, good), {Name: "mean", Data: []any{true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.pixels()
			f.answers.outputs = outputs
			res := f.do("carol", "POST", "/api/v1/models/"+ds+"/ponds/1/predict", asJSON(`{"rows":[{"image":"YQ=="}]}`))
			require.Equal(t, http.StatusInternalServerError, res.Code, res.Body)
			require.NotContains(t, res.Body.String(), "script")
		})
	}
}

// FuzzPictures holds that what is shown is a PNG of a bounded size, whatever the process sends.
func FuzzPictures(f *testing.F) {
	f.Add(drawn(f, 2, 3), "#e69f00", 0.5)
	f.Add(claimed(f, 65535, 65535), "", 2.0)
	f.Fuzz(func(t *testing.T, encoded, colour string, value float64) {
		rows, err := pictured([]answer.Tensor{of("mask", map[string]any{}, encoded), share([]any{colour}, []any{colour}, value)}, 1)
		if err != nil {
			return
		}
		require.LessOrEqual(t, rows[0].Pictures[0].Width*rows[0].Pictures[0].Height, maxPixels)
		require.True(t, slices.Contains([]string{"", colour}, rows[0].Legend[0].Colour))
		require.Empty(t, strings.Trim(rows[0].Pictures[0].PNG, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="))
	})
}
