// Package picture decodes pictures of strangers and encodes them again, so that a page can show them: what comes out has their colours
// and nothing else.
package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/draw"
)

const (
	// MaxBytes bounds the file of a picture, maxPixels what it decodes to: 80 MB at eight bytes.
	MaxBytes  = 8 << 20
	maxPixels = 10_000_000
	// maxSide is the longer side of what comes out, in pixels.
	maxSide = 900
	// largePNG is how large a PNG may be before a JPEG is tried, in bytes.
	largePNG = 150 << 10
	quality  = 80
)

// errTooLarge is returned for a picture that has no room.
var errTooLarge = errors.New("the picture is too large")

// URL reads a PNG or a JPEG and returns a picture of at most limit characters as a data URL: a PNG, or a JPEG if that is much smaller.
func URL(r io.Reader, limit int) (string, error) {
	doc, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return "", err
	}
	if len(doc) > MaxBytes {
		return "", errTooLarge
	}
	decode, err := decoder(doc)
	if err != nil {
		return "", err
	}
	img, err := decode(bytes.NewReader(doc))
	if err != nil {
		return "", fmt.Errorf("decode the picture: %w", err)
	}
	kind, body, err := encode(smaller(img))
	if err != nil {
		return "", err
	}
	url := "data:image/" + kind + ";base64," + base64.StdEncoding.EncodeToString(body)
	if len(url) > limit {
		return "", errTooLarge
	}
	return url, nil
}

// decoder chooses the decoder by how the file begins, and looks at the size before anything is decoded.
func decoder(doc []byte) (func(io.Reader) (image.Image, error), error) {
	config, decode := jpeg.DecodeConfig, jpeg.Decode
	if bytes.HasPrefix(doc, []byte("\x89PNG\r\n\x1a\n")) {
		config, decode = png.DecodeConfig, png.Decode
	}
	size, err := config(bytes.NewReader(doc))
	if err != nil {
		return nil, fmt.Errorf("read the size of the picture: %w", err)
	}
	if size.Width < 1 || size.Height < 1 || size.Width > maxPixels/size.Height {
		return nil, errTooLarge
	}
	return decode, nil
}

// smaller scales a picture down to maxSide, on white.
func smaller(img image.Image) image.Image {
	from := img.Bounds()
	width, height := from.Dx(), from.Dy()
	if longer := max(width, height); longer > maxSide {
		width, height = max(1, width*maxSide/longer), max(1, height*maxSide/longer)
	}
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.CatmullRom.Scale(out, out.Bounds(), img, from, draw.Over, nil)
	return out
}

func encode(img image.Image) (kind string, body []byte, err error) {
	var asPNG, asJPEG bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&asPNG, img); err != nil {
		return "", nil, err
	}
	if asPNG.Len() <= largePNG {
		return "png", asPNG.Bytes(), nil
	}
	if err := jpeg.Encode(&asJPEG, img, &jpeg.Options{Quality: quality}); err != nil {
		return "", nil, err
	}
	if 2*asJPEG.Len() > asPNG.Len() {
		return "png", asPNG.Bytes(), nil
	}
	return "jpeg", asJPEG.Bytes(), nil
}
