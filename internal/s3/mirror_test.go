package s3

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

const at = "s3://data/runs"

func outputs(content map[string]string) Set {
	return Set{Run: "ft-a", Name: "outputs", Files: files(content)}
}

// written are the requests that change the store.
func written(requests []string) (changes []string) {
	for _, request := range requests {
		if !strings.HasPrefix(request, "GET ") && !strings.HasPrefix(request, "HEAD ") {
			changes = append(changes, request)
		}
	}
	return changes
}

func TestAManifestIsWrittenAfterTheFilesThatItLists(t *testing.T) {
	t.Parallel()
	d := newDouble(t, nil)
	require.NoError(t, d.Upload(t.Context(), at+"/", Requester{}, outputs(map[string]string{"a.pt": "weights", "b/c.pt": "more", "log.txt": ""})))
	changes := written(d.spoils(nil))
	require.ElementsMatch(t, []string{"PUT /data/runs/ft-a/outputs/a.pt", "PUT /data/runs/ft-a/outputs/b/c.pt", "PUT /data/runs/ft-a/outputs/log.txt"}, changes[:3])
	require.Equal(t, []string{"PUT /data/runs/ft-a/outputs.json"}, changes[3:])
	bodies := d.bodies()
	require.Equal(t, "weights", bodies["runs/ft-a/outputs/a.pt"])
	require.Equal(t, "more", bodies["runs/ft-a/outputs/b/c.pt"])
	require.Empty(t, bodies["runs/ft-a/outputs/log.txt"])
	var m manifest
	require.NoError(t, json.Unmarshal([]byte(bodies["runs/ft-a/outputs.json"]), &m))
	require.Equal(t, manifest{Run: "ft-a", Files: []File{
		{Name: "a.pt", Size: 7, SHA256: digest("weights")},
		{Name: "b/c.pt", Size: 4, SHA256: digest("more")},
		{Name: "log.txt", Size: 0, SHA256: digest("")},
	}}, m)
}

func TestASetWithoutFilesHasAManifest(t *testing.T) {
	t.Parallel()
	d := newDouble(t, nil)
	require.NoError(t, d.Upload(t.Context(), at, Requester{}, outputs(nil)))
	require.Equal(t, []string{"PUT /data/runs/ft-a/outputs.json"}, written(d.spoils(nil)))
}

func TestASecondUploadSendsOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	set := outputs(map[string]string{"a.pt": "weights", "log.txt": "1"})
	for name, tc := range map[string]struct {
		change func(*double)
		want   []string
	}{
		"nothing":                      {func(*double) {}, nil},
		"the manifest":                 {func(d *double) { delete(d.objects, "runs/ft-a/outputs.json") }, []string{"PUT /data/runs/ft-a/outputs.json"}},
		"a file, with a manifest":      {func(d *double) { delete(d.objects, "runs/ft-a/outputs/a.pt") }, nil},
		"a file without its manifest":  {lose("outputs/a.pt", nil), []string{"PUT /data/runs/ft-a/outputs/a.pt", "PUT /data/runs/ft-a/outputs.json"}},
		"a file of the same size":      {lose("outputs/a.pt", &stored{body: "WEIGHTS", sum: digest("WEIGHTS")}), []string{"PUT /data/runs/ft-a/outputs/a.pt", "PUT /data/runs/ft-a/outputs.json"}},
		"a file without its sha256":    {lose("outputs/a.pt", &stored{body: "weights"}), []string{"PUT /data/runs/ft-a/outputs/a.pt", "PUT /data/runs/ft-a/outputs.json"}},
		"a file of another size":       {lose("outputs/a.pt", &stored{body: "weig", sum: digest("weights")}), []string{"PUT /data/runs/ft-a/outputs/a.pt", "PUT /data/runs/ft-a/outputs.json"}},
		"a file with another's sha256": {lose("outputs/log.txt", &stored{body: "1", sum: digest("2")}), []string{"PUT /data/runs/ft-a/outputs/log.txt", "PUT /data/runs/ft-a/outputs.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, nil)
			require.NoError(t, d.Upload(t.Context(), at, Requester{}, set))
			whole := d.bodies()
			tc.change(d)
			d.spoils(nil)
			require.NoError(t, d.Upload(t.Context(), at, Requester{}, set))
			require.Equal(t, tc.want, written(d.spoils(nil)))
			if tc.want != nil {
				require.Equal(t, whole, d.bodies())
			}
		})
	}
}

// lose removes the manifest, and replaces a file of the set or removes it.
func lose(name string, other *stored) func(*double) {
	return func(d *double) {
		delete(d.objects, "runs/ft-a/outputs.json")
		delete(d.objects, "runs/ft-a/"+name)
		if other != nil {
			d.objects["runs/ft-a/"+name] = *other
		}
	}
}

func TestAFileOfAnEarlierSetIsCopiedInsideTheStore(t *testing.T) {
	t.Parallel()
	first := Set{Run: "ft-a", Name: "checkpoints/1", Files: files(map[string]string{"a.pt": "weights", "log.txt": "1"})}
	for name, tc := range map[string]struct {
		before string
		change func(*double)
		opened []string
	}{
		"of a whole set":               {"checkpoints/1", func(*double) {}, []string{"log.txt"}},
		"of a set without a manifest":  {"checkpoints/1", func(d *double) { delete(d.objects, "runs/ft-a/checkpoints/1.json") }, []string{"a.pt", "log.txt"}},
		"of a set that lost the file":  {"checkpoints/1", func(d *double) { delete(d.objects, "runs/ft-a/checkpoints/1/a.pt") }, []string{"a.pt", "log.txt"}},
		"of a set that never was":      {"checkpoints/0", func(*double) {}, []string{"a.pt", "log.txt"}},
		"of no set":                    {"", func(*double) {}, []string{"a.pt", "log.txt"}},
		"of a store that never copies": {"checkpoints/1", func(d *double) { d.spoil = refusesCopies }, []string{"a.pt", "log.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, nil)
			require.NoError(t, d.Upload(t.Context(), at, Requester{}, first))
			tc.change(d)
			second := Set{Run: "ft-a", Name: "checkpoints/2", Files: files(map[string]string{"a.pt": "weights", "log.txt": "12"}), Before: tc.before}
			var opened []string
			for i, f := range second.Files {
				second.Files[i].Open = func() (io.ReadCloser, error) {
					opened = append(opened, f.Name)
					return f.Open()
				}
			}
			require.NoError(t, d.Upload(t.Context(), at, Requester{}, second))
			require.Equal(t, tc.opened, opened)
			require.Equal(t, stored{body: "weights", sum: digest("weights")}, d.objects["runs/ft-a/checkpoints/2/a.pt"])
			require.Equal(t, stored{body: "12", sum: digest("12")}, d.objects["runs/ft-a/checkpoints/2/log.txt"])
		})
	}
}

func refusesCopies(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("X-Amz-Copy-Source") == "" {
		return false
	}
	refuse(w, http.StatusForbidden, "AccessDenied")
	return true
}

func TestAnUploadThatFailsWritesNoManifest(t *testing.T) {
	t.Parallel()
	gone := errors.New("the file is gone")
	for name, tc := range map[string]struct {
		change func(*double, *Set)
		want   string
		kind   job.Kind
	}{
		"the store refuses a file": {
			func(d *double, _ *Set) {
				d.spoil = refuses(http.MethodPut, "/a.pt", http.StatusForbidden, "AccessDenied")
			}, "the store does not allow to write to s3://data/runs/ft-a", job.KindPermanent,
		},
		"the store refuses to say what it has": {
			func(d *double, _ *Set) {
				d.spoil = refuses(http.MethodGet, "/outputs.json", http.StatusForbidden, "AllAccessDisabled")
			}, "the store does not allow to write to s3://data/runs/ft-a", job.KindPermanent,
		},
		"the keys expire": {
			func(d *double, _ *Set) {
				d.spoil = refuses(http.MethodPut, "/log.txt", http.StatusBadRequest, "ExpiredToken")
			}, "S3_SOURCES: the bucket data has credentials that have expired: renew them", job.KindRetryable,
		},
		"a file cannot be opened": {
			func(_ *double, set *Set) {
				set.Files[1].Open = func() (io.ReadCloser, error) { return nil, gone }
			}, gone.Error(), job.KindRetryable,
		},
		"a file cannot be read": {
			func(_ *double, set *Set) {
				set.Files[1].Open = func() (io.ReadCloser, error) { return io.NopCloser(failing{gone}), nil }
			}, gone.Error(), job.KindRetryable,
		},
		"a file changed": {
			func(_ *double, set *Set) {
				set.Files[1].Open = func() (io.ReadCloser, error) {
					return io.NopCloser(disk.Verify(strings.NewReader("2"), "log.txt", 1, digest("1"))), nil
				}
			}, disk.ErrChanged.Error(), job.KindPermanent,
		},
		"a name is no path": {
			func(_ *double, set *Set) { set.Files[0].Name = "a\nb" },
			`the file "a\nb" cannot be an object of s3://data/runs/ft-a: its name has characters that a file name cannot have`, job.KindPermanent,
		},
		"a manifest of somebody else": {
			func(d *double, _ *Set) { d.objects["runs/ft-a/outputs.json"] = stored{body: "my notes"} },
			"s3://data/runs/ft-a has a file outputs.json that is not of this service: name another folder", job.KindPermanent,
		},
		"an earlier manifest of somebody else": {
			func(d *double, set *Set) {
				set.Before = "old"
				d.objects["runs/ft-a/old.json"] = stored{body: "[]"}
			}, "has a file old.json that is not of this service", job.KindPermanent,
		},
		"a name that leaves the folder": {
			func(_ *double, set *Set) { set.Name, set.Files[0].Name = "outputs", "../../../../x/../.." },
			"its name has an empty part, or a part of dots only", job.KindPermanent,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, nil)
			set := outputs(map[string]string{"a.pt": "weights", "log.txt": "1"})
			tc.change(d, &set)
			err := d.Upload(t.Context(), at, Requester{}, set)
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
			require.NotContains(t, d.spoils(nil), "PUT /data/runs/ft-a/outputs.json")
		})
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestAManifestThatAnotherProcessWroteFirstStays(t *testing.T) {
	t.Parallel()
	d := newDouble(t, nil)
	const theirs = `{"run":"ft-a","files":[]}`
	d.spoils(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/outputs.json") {
			d.put("runs/ft-a/outputs.json", theirs)
		}
		return false
	})
	require.NoError(t, d.Upload(t.Context(), at, Requester{}, outputs(map[string]string{"a.pt": "weights"})))
	require.JSONEq(t, theirs, d.bodies()["runs/ft-a/outputs.json"])
}

func TestOnlyCompleteSetsAreListed(t *testing.T) {
	t.Parallel()
	d := newDouble(t, map[string]string{
		"runs/ft-a/checkpoints/1.json": "{}", "runs/ft-a/checkpoints/1/a.pt": "x", "runs/ft-a/checkpoints/2/a.pt": "without a manifest",
		"runs/ft-a/checkpoints/10.json": "{}", "runs/ft-a/checkpoints/3/inner.json": "a file of a set", "runs/ft-a/checkpoints/notes.txt": "",
		"runs/ft-a/outputs.json": "{}", "runs/ft-b/checkpoints/7.json": "{}",
	})
	sets, err := d.Sets(t.Context(), at, Requester{}, "ft-a", "checkpoints")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"1", "10"}, sets)
	sets, err = d.Sets(t.Context(), at, Requester{}, "ft-c", "checkpoints")
	require.NoError(t, err)
	require.Empty(t, sets)
	d.spoils(refuses(http.MethodGet, "/data/", http.StatusForbidden, "AccessDenied"))
	_, err = d.Sets(t.Context(), at, Requester{}, "ft-a", "checkpoints")
	requirePermanent(t, err, "the store does not allow to list s3://data/runs/ft-a")
}

func TestASetIsRemovedWithItsManifestFirst(t *testing.T) {
	t.Parallel()
	objects := map[string]string{"runs/ft-a/1.json": "{}", "runs/ft-a/1/a": "x", "runs/ft-a/1/b/c": "y", "runs/ft-a/1/z": "z", "runs/ft-a/10/a": "other", "runs/ft-a/10.json": "{}"}
	d := newDouble(t, objects)
	require.NoError(t, d.Remove(t.Context(), at, Requester{}, "ft-a", "1"))
	require.Equal(t, []string{"DELETE /data/runs/ft-a/1.json", "DELETE /data/runs/ft-a/1/a", "DELETE /data/runs/ft-a/1/b/c", "DELETE /data/runs/ft-a/1/z"}, written(d.spoils(nil)))
	require.Equal(t, map[string]string{"runs/ft-a/10/a": "other", "runs/ft-a/10.json": "{}"}, d.bodies())
	require.NoError(t, d.Remove(t.Context(), at, Requester{}, "ft-a", "1"), "there is none any more")
	for _, suffix := range []string{"/runs/ft-a/10.json", "/runs/ft-a/10/a"} {
		d.spoils(refuses(http.MethodDelete, suffix, http.StatusForbidden, "AccessDenied"))
		requirePermanent(t, d.Remove(t.Context(), at, Requester{}, "ft-a", "10"), "the store does not allow to remove from s3://data/runs/ft-a")
	}
}

func TestAnAddressThatMayNotBeWrittenGetsNoRequest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ address, want string }{
		"no address":      {"data/runs", "write s3://bucket/folder"},
		"no place":        {"s3://others/runs", "s3://others/runs cannot be written to here: ask the administrator"},
		"a place to read": {"s3://library/runs", "s3://library/runs cannot be written to here: ask the administrator"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, nil)
			d.cfg.Places = append(d.cfg.Places, Place{Bucket: "library", Endpoint: d.cfg.Places[0].Endpoint, Private: true, Access: read})
			_, listing := d.Sets(t.Context(), tc.address, Requester{}, "ft-a", "checkpoints")
			for _, err := range []error{
				d.Check(tc.address, Requester{}), d.Upload(t.Context(), tc.address, Requester{}, outputs(nil)), listing, d.Remove(t.Context(), tc.address, Requester{}, "ft-a", "1"),
			} {
				requirePermanent(t, err, tc.want)
			}
			require.Empty(t, d.spoils(nil))
		})
	}
}
