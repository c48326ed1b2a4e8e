package job

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// row is what a query of the store returns.
type row struct{ doc []byte }

func (r row) Scan(dest ...any) error {
	*dest[0].(*string), *dest[1].(*int64), *dest[2].(*string), *dest[3].(*string) = "ft-one", 3, "key", ""
	*dest[4].(*[]byte) = r.doc
	return nil
}

// FuzzRecord reads what may lie in the file of a store. Whatever can be read can be ended and written, and reads the same again.
func FuzzRecord(f *testing.F) {
	rec := New("ft-one", Train, Request{Key: "k", Kind: Dataset, Parameters: map[string]any{"epochs": 3.0}, Received: time.Unix(1, 0).UTC()}, "key")
	rec.Handle, rec.Settings = &Handle{ID: "x"}, NewSettings(map[string]any{"a": []any{nil, true}})
	doc, err := json.Marshal(rec)
	require.NoError(f, err)
	for _, seed := range []string{string(doc), "{}", "null", "[]", `{"run":"ft-two"}`, `{"handle":null,"ending":{"state":"x"}}`, `{"created":"x"}`, `{"request":{"parameters":{"a":1e999}}}`} {
		f.Add([]byte(seed))
	}
	s := &SQLite{}
	f.Fuzz(func(t *testing.T, doc []byte) {
		rec, err := s.scan(row{doc})
		if err != nil {
			return
		}
		require.Equal(t, "ft-one", rec.Run, "the column decides which job it is")
		require.Equal(t, "key", rec.SecretKey.Reveal())
		require.EqualValues(t, 3, rec.Version)
		rec.End(Failed, "x")
		written, err := encode(rec)
		if err != nil {
			require.ErrorIs(t, err, ErrTooLarge)
			return
		}
		again, err := s.scan(row{written})
		require.NoError(t, err)
		rewritten, err := encode(again)
		require.NoError(t, err)
		require.Equal(t, string(written), string(rewritten))
	})
}

// FuzzKeyring reads state keys as an operator gives them.
func FuzzKeyring(f *testing.F) {
	for _, seed := range []string{"", " ,\n", "hunter2!", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseKeyring(Secret(text))
		if err != nil {
			require.Contains(t, err.Error(), "openssl rand")
			return
		}
		box := k.seal("ft-one", "key")
		key, err := k.open("ft-one", box)
		require.NoError(t, err)
		require.Equal(t, "key", key.Reveal())
		if k != nil {
			_, err = k.open("ft-two", box)
			require.Error(t, err, "it opens for its own job only")
		}
	})
}
