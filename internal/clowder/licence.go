package clowder

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Licence is one that the owner of a dataset has written. Clowder v2 shows it and forbids nothing because of it.
type Licence struct {
	Name string
	// Ends is when it ends, the zero time for never.
	Ends time.Time
}

// Licence reads the licence of a dataset that its owner has written; the zero value for a dataset with a common licence, or with none.
func (s *Session) Licence(ctx context.Context, of Dataset) (Licence, error) {
	if of.CommonLicence || !message.ValidID(of.LicenceID) {
		return Licence{}, nil
	}
	var row struct {
		Name string  `json:"name"`
		Ends *string `json:"expiration_date"`
	}
	c := get("read the licence of the dataset", mayView, "licenses", of.LicenceID)
	c.into = &row
	if err := s.do(ctx, c); err != nil {
		return Licence{}, err
	}
	out := Licence{Name: text.Shorten(text.OneLine(row.Name), maxLabel)}
	if row.Ends != nil {
		out.Ends = parseTime(*row.Ends)
	}
	return out, nil
}

// IsBarred reports whether Clowder refused a download because of the licence of the file, as v1 does in words.
func IsBarred(err error) bool {
	switch StatusOf(err) {
	case http.StatusUnavailableForLegalReasons:
		return true
	case http.StatusBadRequest, http.StatusForbidden:
		said := strings.ToLower(err.Error())
		return strings.Contains(said, "license") || strings.Contains(said, "licence")
	default:
		return false
	}
}
