package picture_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/results/report/picture"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAPictureKeepsItsColoursAndNothingElse(t *testing.T) {
	t.Parallel()
	doc := append(encoded(t, plain(40, 20)), "<script>alert(1)</script>"...)
	url, err := picture.URL(bytes.NewReader(doc), 1<<20)
	require.NoError(t, err)
	img := decoded(t, url, "data:image/png;base64,")
	require.Equal(t, image.Rect(0, 0, 40, 20), img.Bounds())
	r, g, b, _ := img.At(3, 3).RGBA()
	require.Equal(t, []uint32{200, 100, 50}, []uint32{r >> 8, g >> 8, b >> 8})
	body, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:image/png;base64,"))
	require.NoError(t, err)
	require.NotContains(t, string(body), "script")
}

func TestALargePictureBecomesSmaller(t *testing.T) {
	t.Parallel()
	noise := image.NewRGBA(image.Rect(0, 0, 1800, 600))
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(rnd.Uint32())
	}
	var photo bytes.Buffer
	require.NoError(t, jpeg.Encode(&photo, noise, nil))
	url, err := picture.URL(&photo, 4<<20)
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 900, 300), decoded(t, url, "data:image/jpeg;base64,").Bounds())
}

func TestWhatIsNoSmallPictureIsRefused(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string][]byte{
		"nothing":                       {},
		"a page":                        []byte("<svg onload=alert(1)>"),
		"a picture that is cut off":     encoded(t, plain(40, 20))[:60],
		"more pixels than anybody sees": bomb(100_000, 100_000),
		"a file that is too large":      append(encoded(t, plain(4, 4)), make([]byte, picture.MaxBytes)...),
	} {
		_, err := picture.URL(bytes.NewReader(doc), 1<<20)
		require.Error(t, err, name)
	}
	_, err := picture.URL(bytes.NewReader(encoded(t, plain(40, 20))), 50)
	require.ErrorContains(t, err, "too large")
}

func FuzzURL(f *testing.F) {
	f.Add(encoded(f, plain(3, 3)))
	var photo bytes.Buffer
	require.NoError(f, jpeg.Encode(&photo, plain(9, 9), nil))
	f.Add(photo.Bytes())
	f.Add(bomb(1, 9_000_000))
	f.Fuzz(func(t *testing.T, doc []byte) {
		url, err := picture.URL(bytes.NewReader(doc), 1<<20)
		if err == nil {
			require.Regexp(t, `^data:image/(png|jpeg);base64,[A-Za-z0-9+/=]+$`, url)
			require.LessOrEqual(t, len(url), 1<<20)
		}
	})
}

func plain(width, height int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			img.Set(x, y, color.RGBA{R: 200, G: 100, B: 50, A: 255})
		}
	}
	return img
}

func encoded(tb testing.TB, img image.Image) []byte {
	tb.Helper()
	var out bytes.Buffer
	require.NoError(tb, png.Encode(&out, img))
	return out.Bytes()
}

// bomb is the beginning of a PNG of a size.
func bomb(width, height uint32) []byte {
	head := []byte("IHDR")
	head = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(head, width), height)
	head = append(head, 8, 6, 0, 0, 0)
	doc := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), 13)
	return binary.BigEndian.AppendUint32(append(doc, head...), crc32.ChecksumIEEE(head))
}

func decoded(t *testing.T, url, prefix string) image.Image {
	t.Helper()
	body, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, prefix))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(url, prefix), url[:30])
	img, _, err := image.Decode(bytes.NewReader(body))
	require.NoError(t, err)
	return img
}
