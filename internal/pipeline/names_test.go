package pipeline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	clowderplatform "github.com/ncsa/clowder-ray/internal/platform/clowder"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/registry"
)

const (
	hostA, hostB = "https://a.example.org", "https://b.example.org"
	trains       = "ncsa.ray.finetune"
)

// from is the request of a job that has the same id in every Clowder.
func from(host string) job.Request {
	req := jobtest.Record(run, "hash of "+host).Request
	req.Host = host
	return req
}

func TestJobsOfTwoClowdersWithTheSameIDAreTwoRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	names := map[string]bool{}
	for _, host := range []string{hostA, hostB} {
		for range 2 { // the broker may deliver it again
			name, err := b.runName(t.Context(), trains, from(host))
			require.NoError(t, err)
			rec, created, err := b.store.Accept(t.Context(), job.New(name, job.Train, from(host), "key"))
			require.NoError(t, err, "nobody's request is refused because of somebody else's")
			require.Equal(t, !names[name], created)
			require.Equal(t, host, rec.Request.Host)
			names[name] = true
		}
	}
	require.Len(t, names, 2)
	name, err := b.runName(t.Context(), trains, from("HTTPS://A.example.org:443/"))
	require.NoError(t, err)
	require.True(t, names[name], "another spelling is the same Clowder")
}

func TestAJobThatTheVersionBeforeTookInIsFoundAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := rayjob.RunName("", trains, from(hostA).Key)
	_, _, err := b.store.Accept(t.Context(), job.New(before, job.Train, from(hostA), "key"))
	require.NoError(t, err)
	for host, want := range map[string]string{
		hostA:                        before,
		"https://A.example.org:443/": before,
		hostB:                        rayjob.RunName(hostB, trains, from(hostB).Key),
	} {
		name, err := b.runName(t.Context(), trains, from(host))
		require.NoError(t, err)
		require.Equal(t, want, name, host)
	}
	require.NoError(t, b.store.Close())
	_, err = b.runName(t.Context(), trains, from(hostA))
	require.Error(t, err, "a question without an answer is no no: the broker keeps the message")
}

func TestWithOneClowderTheNameOfARunStaysWhatItWas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.platform.configured = "http://Backend:8000/"
	name, err := b.runName(t.Context(), trains, from(hostA))
	require.NoError(t, err)
	require.Equal(t, rayjob.RunName("http://Backend:8000/", trains, from(hostA).Key), name)
}

func TestTheClowderOfAJobIsCheckedBeforeItsModelsAreTouched(t *testing.T) {
	t.Parallel()
	client, err := clowder.NewClient(clowder.Config{AllowedHosts: []string{hostA + "/"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	b := setup(t)
	b.Pipeline.platform = clowderplatform.New(client, b.cfg.Extractors)
	of, err := b.dataset(job.Record{Request: from("https://A.example.org:443")})
	require.NoError(t, err)
	require.Equal(t, registry.Dataset{Clowder: hostA, ID: strings.Repeat("d", 24)}, of)
	_, err = b.dataset(job.Record{Request: from(hostB)})
	require.ErrorContains(t, err, "this extractor does not serve")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}

func TestAModelBelongsToTheClowderOfItsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.address = hostA
		b.accept(t, run, nil)
		b.runUntilOver(t)
		v, err := modelOf(b.get(t, run))
		require.NoError(t, err)
		require.Equal(t, hostA, v.Clowder)

		again := setupOn(t, b.dir, b.store)
		again.platform.address, again.platform.readable = hostB, strings.Repeat("d", 24)+strings.Repeat("e", 24)
		rec := jobtest.Record(request, "h2")
		rec.Kind, rec.Request.Extractor, rec.Request.Parameters = job.Predict, "ncsa.ray.predict", map[string]any{"model": v.Ref()}
		_, _, err = again.store.Accept(t.Context(), rec)
		require.NoError(t, err)
		again.runUntilOver(t)
		require.Contains(t, again.get(t, request).Ending.Text, "there is no model model/1", "a Clowder that says yes to everything gets no model of another one")
	})
}

func TestATrainingGoesOnWithoutAChampionThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.address = hostA
		v := b.register(t, strings.Repeat("d", 24), "model", "ft-old")
		path := filepath.Join(filepath.Dir(b.registry.Model(v).Path()), "version.json")
		require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, run).State)
		require.Nil(t, b.spec(t).Champion)
		notes := b.texts(run, "The new model")
		require.Len(t, notes, 1)
		require.Contains(t, notes[0],
			"The new model will not be compared with the current champion: the champion of the model model cannot be read: ask the administrator, or enter a version")
		made, err := modelOf(b.get(t, run))
		require.NoError(t, err)
		require.Equal(t, "model/2", made.Ref())
		require.Contains(t, made.Why, "the current champion cannot be read")
	})
}

func TestAnAnswerToAnOldRecordLeadsToItsModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.platform.address = hostA
	rec := jobtest.Record(run, "h")
	rec.Model = json.RawMessage(`{"schema":1,"name":"films","version":2,"run":"ft-old","dataset_id":"` + rec.Request.DatasetID + `"}`)
	v, err := modelOf(rec)
	require.NoError(t, err)
	spec, err := b.specModel(run, *v)
	require.NoError(t, err)
	require.Equal(t, "../../registry/"+rec.Request.DatasetID+"/films/2/model", spec.Path)
}
