package section_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results/section"
)

func TestAPictureForAPageIsAPNGAndNothingElse(t *testing.T) {
	t.Parallel()
	const maxPicture = 32 << 10
	const header = "\x89PNG\r\n\x1a\n"
	encode := base64.StdEncoding.EncodeToString
	const none, large = "a picture is no PNG in base64", "a picture is too large"
	for name, tc := range map[string]struct{ image, text string }{
		"no picture":                        {"", ""},
		"a picture":                         {encode([]byte(header + "rest")), ""},
		"as large as is shown":              {encode([]byte(header + strings.Repeat("x", maxPicture-len(header)))), ""},
		"three bytes more":                  {encode([]byte(header + strings.Repeat("x", maxPicture-len(header)+3))), large},
		"a JPEG":                            {encode([]byte("\xff\xd8\xff\xe0")), none},
		"a half header":                     {encode([]byte(header[:7])), none},
		"the header behind something":       {encode([]byte(" " + header)), none},
		"an address":                        {"https://example.org/a.png", none},
		"an address with the data in it":    {"data:image/png;base64," + encode([]byte(header)), none},
		"the alphabet of addresses":         {base64.URLEncoding.EncodeToString([]byte(header + "\xff\xfe\xfd\xfb\xff")), none},
		"no padding":                        {strings.TrimRight(encode([]byte(header)), "="), none},
		"a line end in the middle":          {encode([]byte(header))[:4] + "\n" + encode([]byte(header))[4:], none},
		"a carriage return at the end":      {encode([]byte(header)) + "\r", none},
		"bits that another decoder may see": {strings.TrimRight(encode([]byte(header+"a"+"b")), "=")[:13] + "B==", none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := section.CheckPicture(tc.image)
			if tc.text == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tc.text)
		})
	}
}
