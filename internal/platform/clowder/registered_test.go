package clowder

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
)

// beat sends a heartbeat of each extractor, as this service or another one does.
func (d *deliveryTest) beat(t *testing.T) {
	t.Helper()
	for _, e := range d.platform.extractors {
		require.NoError(t, d.server.Heartbeat(e.Info.Heartbeat(e.Queue, form.Owner{}, "test")))
	}
}

func TestWhatIsWrongWithAnExtractorInClowder(t *testing.T) {
	t.Parallel()
	all := len(newDelivery(t, alice).platform.extractors)
	for name, tc := range map[string]struct {
		version  int
		alter    func(t *testing.T, d *deliveryTest)
		want     []string // words of the sentences
		repaired []string // the same after the next heartbeat
	}{
		"all is well":     {2, func(*testing.T, *deliveryTest) {}, nil, nil},
		"all is well, v1": {1, func(*testing.T, *deliveryTest) {}, nil, nil},
		"deleted in the page": {
			2, func(_ *testing.T, d *deliveryTest) { d.server.DeleteListener("ncsa.ray.predict") },
			[]string{"ncsa.ray.predict is not listed"},
			[]string{"ncsa.ray.predict is not enabled"},
		},
		"deleted in the page of v1": {
			1, func(_ *testing.T, d *deliveryTest) { d.server.DeleteListener("ncsa.ray.predict") },
			[]string{"ncsa.ray.predict is not listed"},
			nil,
		},
		"replaced by another version": {
			2, func(t *testing.T, d *deliveryTest) { t.Helper(); d.replace(t) },
			[]string{"is listed with version 9.9.9"},
			nil,
		},
		"replaced by another version in v1": {
			1, func(t *testing.T, d *deliveryTest) { t.Helper(); d.replace(t) },
			[]string{"is listed with version 9.9.9"},
			nil,
		},
		"without a heartbeat": {
			2, func(_ *testing.T, d *deliveryTest) { d.server.ForgetHeartbeats(10 * time.Minute) },
			repeated("is shown as offline", all), nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeliveryWith(t, clowdertest.Options{Version: tc.version}, alice)
			d.server.EnableListeners()
			tc.alter(t, d)
			for _, want := range [][]string{tc.want, tc.repaired} {
				wrong, err := d.platform.Registered(t.Context(), d.rec)
				require.NoError(t, err)
				require.Len(t, wrong, len(want))
				for i := range want {
					require.Contains(t, wrong[i], want[i])
				}
				d.beat(t)
			}
		})
	}
}

// replace has another service announce an extractor of this one with another version.
func (d *deliveryTest) replace(t *testing.T) {
	t.Helper()
	e := d.platform.extractors[0]
	beat := string(e.Info.Heartbeat(e.Queue, form.Owner{}, "another"))
	version := fmt.Sprintf(`"version":%q`, e.Info.Version)
	require.Contains(t, beat, version)
	require.NoError(t, d.server.Heartbeat([]byte(strings.Replace(beat, version, `"version":"9.9.9"`, 1))))
}

func repeated(word string, n int) (all []string) {
	for range n {
		all = append(all, word)
	}
	return all
}

func TestAPrivateExtractorIsNotMissedByUsersWhoDoNotSeeIt(t *testing.T) {
	t.Parallel()
	d := newDelivery(t, alice)
	d.server.EnableListeners()
	d.platform.extractors[0].Queue = "private.canary.ncsa.ray.finetune"
	wrong, err := d.platform.Registered(t.Context(), d.rec)
	require.NoError(t, err)
	require.Empty(t, wrong)
}
