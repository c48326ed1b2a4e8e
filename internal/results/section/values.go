package section

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math"
	"strings"
)

// What all parts of a result hold at most, in sections and elsewhere.
const (
	// MaxCount bounds counts of rows: sums of them must not overflow.
	MaxCount = 1_000_000_000_000
	// MaxNumber bounds numbers: differences of such numbers are still numbers.
	MaxNumber = 1e300
	// maxPicture is how many bytes a picture has.
	maxPicture = 32 << 10
)

// pngHeader begins every PNG.
var pngHeader = []byte("\x89PNG\r\n\x1a\n")

// CheckNumbers refuses numbers that charts cannot compute with.
func CheckNumbers(values ...float64) error {
	for _, v := range values {
		if math.IsNaN(v) || math.Abs(v) > MaxNumber {
			return errors.New("a number is impossible")
		}
	}
	return nil
}

// CheckPicture accepts nothing and small pictures in the PNG format. They are shown in a page, where a browser believes the
// header and not us.
func CheckPicture(image string) error {
	if image == "" {
		return nil
	}
	if len(image) > base64.StdEncoding.EncodedLen(maxPicture) {
		return errors.New("a picture is too large")
	}
	body, err := base64.StdEncoding.Strict().DecodeString(image)
	if err != nil || strings.ContainsAny(image, "\r\n") || !bytes.HasPrefix(body, pngHeader) {
		return errors.New("a picture is no PNG in base64")
	}
	return nil
}
