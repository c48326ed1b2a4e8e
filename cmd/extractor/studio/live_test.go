package studio

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// stateKeys are state keys of these bytes, the newest first.
func stateKeys(t *testing.T, of ...byte) *job.Keyring {
	t.Helper()
	words := make([]string, len(of))
	for i, b := range of {
		words[i] = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32))
	}
	keys, err := job.ParseKeyring(job.Secret(strings.Join(words, " ")))
	require.NoError(t, err)
	return keys
}

// dashboard is what the datasets of Clowder show, by run.
type dashboard struct {
	pages map[string]string
	fault error
}

func (d *dashboard) ShowLive(_ context.Context, rec job.Record, page string) error {
	d.pages[rec.Run] = page
	return d.fault
}

func (d *dashboard) HideLive(_ context.Context, rec job.Record) error {
	delete(d.pages, rec.Run)
	return d.fault
}

// linksTo returns the links to the studio with these keys.
func linksTo(t *testing.T, set Settings, keys *job.Keyring, shown Shown) *Links {
	t.Helper()
	w, err := NewLinks(set, "https://clowder.example.org", keys, shown, zap.NewNop())
	require.NoError(t, err)
	return w
}

func TestARunThatGoesOnIsShownOnItsDataset(t *testing.T) {
	t.Parallel()
	const link = `<a href="https://studio.example.org/ray/runs/ft-one" target="_blank" rel="noopener">Open it in the studio</a>`
	shown := &dashboard{pages: map[string]string{}}
	set := served()
	w := linksTo(t, set, stateKeys(t, 1), shown)
	require.NoError(t, w.Show(t.Context(), job.Record{Run: "ft-one"}))
	require.Equal(t, "<div><p>This run goes on. "+link+"</p></div>", shown.pages["ft-one"], "STUDIO_EMBED=false shows a link only")

	set.Embed = true
	w = linksTo(t, set, stateKeys(t, 1), shown)
	require.NoError(t, w.Show(t.Context(), job.Record{Run: "ft-one"}))
	require.Regexp(t, `<iframe src="https://studio\.example\.org/ray/embed/runs/ft-one\?t=[\w-]{22}" `, shown.pages["ft-one"])
	require.Contains(t, shown.pages["ft-one"], link)
	require.NoError(t, w.Show(t.Context(), job.Record{Run: `"><script>`}))
	require.NotContains(t, shown.pages[`"><script>`], "<script>")

	shown.fault = errors.New("Clowder is away")
	require.ErrorIs(t, w.Show(t.Context(), job.Record{Run: "ft-two"}), shown.fault)
	require.ErrorIs(t, w.Hide(t.Context(), job.Record{Run: "ft-one"}), shown.fault)
	require.NotContains(t, shown.pages, "ft-one")
}

// TestTheAddressOfACardOutlivesARestart: it stands in Clowder for as long as the run goes on.
func TestTheAddressOfACardOutlivesARestart(t *testing.T) {
	t.Parallel()
	card := func(keys *job.Keyring, run string) string {
		set := served()
		set.Embed = true
		page, err := linksTo(t, set, keys, nil).Page(run)
		require.NoError(t, err)
		return page
	}
	first := card(stateKeys(t, 1), "ft-one")
	require.Equal(t, first, card(stateKeys(t, 1), "ft-one"), "the same state key")
	require.Equal(t, first, card(stateKeys(t, 1, 2), "ft-one"), "the newest state key makes it")
	require.NotEqual(t, first, card(stateKeys(t, 2, 1), "ft-one"), "another newest state key")
	drawn := card(nil, "ft-one")
	require.NotEqual(t, drawn, card(nil, "ft-one"), "without a state key nobody can guess it")

	derived, err := cardKeys(stateKeys(t, 2, 1))
	require.NoError(t, err)
	require.Len(t, derived, 2, "addresses that an older key made stay valid")
	cookies, err := stateKeys(t, 2, 1).Derive(keysPurpose)
	require.NoError(t, err)
	for i := range derived {
		require.NotContains(t, cookies, derived[i], "a card does not reveal the key of a login")
	}
}

func TestThereIsNoWayToNoStudio(t *testing.T) {
	t.Parallel()
	w, err := NewLinks(Settings{Listen: "127.0.0.1:0"}, "https://clowder.example.org", nil, nil, zap.NewNop())
	require.NoError(t, err)
	require.Nil(t, w)
	_, err = NewLinks(Settings{URL: "https://studio example"}, "https://clowder.example.org", nil, nil, zap.NewNop())
	require.ErrorContains(t, err, "STUDIO_URL: ")
}
