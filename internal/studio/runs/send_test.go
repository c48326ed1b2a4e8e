package runs

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

func TestAFailedRunIsSentToClowderAgainOncePerClick(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("ft-failed", in(job.Failed), by(bob), to("ncsa.ray.predict"))
	f.down = clowder.NewAnswerError(http.StatusServiceUnavailable, "busy")
	_, err := f.act(f.as(bob), "ft-failed", ActionRetry, "k1")
	require.Equal(t, "clowder", problem(t, err).Type)
	f.down = nil
	for _, key := range []string{"k1", "k1", "k2"} { // the first k1 failed, so it is made; the second one is a double click
		said, err := f.act(f.as(bob), "ft-failed", ActionRetry, key)
		require.NoError(t, err)
		require.Equal(t, "The run is sent to Clowder again.", said)
	}
	const sent = bob + " ds1 ncsa.ray.runs map[action:retry run:ft-failed]"
	require.Equal(t, []string{sent, sent}, f.submitted, "the extractor that manages runs is asked, with the login of the visitor")
	_, ok := f.pending(f.as(bob), "ncsa.ray.runs 1")
	require.False(t, ok, "a request about a run is no run that is on its way")
}

func TestWhatCannotBeDoneToARunIsSaidAndNotTried(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("ft-failed", in(job.Failed))
	f.add("ft-trimmed", in(job.Failed), func(rec *job.Record) { rec.Trimmed = true })
	f.add("ft-running", in(job.Running))
	f.add("ft-predicts", in(job.Running), to("ncsa.ray.predict"))
	for name, c := range map[string]struct {
		who, run, action string
		status           int
		says             string
	}{
		"a retry of a run that goes on":  {alice, "ft-running", ActionRetry, 409, "only a failed or cancelled job can be retried"},
		"a retry without its parameters": {alice, "ft-trimmed", ActionRetry, 409, "no longer has its parameters because they were too large"},
		"a prediction that is to keep a part": {
			alice, "ft-predicts", ActionStop, 409, "A prediction has nothing to keep before it ends. Cancel it instead.",
		},
		"the run of somebody else": {
			bob, "ft-failed", ActionRetry, 403, "Somebody else started this run, and you are uploader of the dataset.",
		},
		"a run that the visitor can only see": {
			carol, "ft-running", ActionCancel, 403, "Somebody else started this run, and you are viewer of the dataset.",
		},
		"a run that the visitor cannot see":    {dave, "ft-running", ActionCancel, 404, "There is no such page, or you may not see it."},
		"a run that never was":                 {alice, "ft-nothing", ActionStop, 404, "There is no such page, or you may not see it."},
		"a name that is the path of something": {alice, "../ft-running", ActionCancel, 404, "There is no such page, or you may not see it."},
	} {
		_, err := f.act(f.as(c.who), c.run, c.action, "")
		require.Equal(t, c.status, problem(t, err).Status, name)
		require.Contains(t, problem(t, err).Error(), c.says, name)
	}
	f.outage = noon
	_, err := f.act(f.as(alice), "ft-running", ActionCancel, "")
	require.Equal(t, []any{502, "Clowder does not answer, so the studio cannot ask whether you may do this. Try again when it does."},
		[]any{problem(t, err).Status, problem(t, err).Error()}, "the owner, too, is told of Clowder and not of a role")
	f.outage = time.Time{}
	f.forms = f.forms.startable()
	_, err = f.act(f.as(alice), "ft-failed", ActionRetry, "")
	require.Equal(t, "This service has no extractor that manages runs. Run it again instead.", problem(t, err).Error())
	require.Empty(t, f.submitted)
	require.Empty(t, f.commands)
}

func TestSaveAndTrainSendsTheFileThatTheEditorHasChecked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.wrong = errors.New("the editor has checked it, so nobody asks here")
	for range 2 {
		run, err := f.Train(f.as(bob), "ds1", "0123456789abcdef01234567", "k")
		require.NoError(t, err)
		require.Equal(t, "ft-ncsa.ray.finetune-1", run)
	}
	require.Equal(t, []string{bob + " ds1 ncsa.ray.finetune map[config_file:0123456789abcdef01234567]"}, f.submitted)
	_, err := f.Train(f.as(carol), "ds1", "0123456789abcdef01234567", "k")
	require.Equal(t, 403, problem(t, err).Status)
	_, err = f.Train(f.as(dave), "ds1", "0123456789abcdef01234567", "k")
	require.Equal(t, web.NotFound, problem(t, err))
}

func TestOnlyATrainingHasItsSettingsFileChecked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.wrong = &web.Problem{Type: "settings", Status: 422, Detail: "line 1 has an error"}
	file := map[string]any{"config_file": "finetune.yaml"}
	_, err := f.submit(f.as(bob), "ds1", "ncsa.ray.finetune-advanced", file, "k", checks{f})
	require.Equal(t, "settings", problem(t, err).Type)
	require.Empty(t, f.submitted)
	_, err = f.submit(f.as(bob), "ds1", "ncsa.ray.finetune", map[string]any{"epochs": 2}, "k", checks{f})
	require.NoError(t, err, "a training without a file has no file to check, and the key of what was refused is free")
	_, err = f.submit(f.as(carol), "ds1", "ncsa.ray.finetune", file, "", checks{f})
	require.Equal(t, 403, problem(t, err).Status, "who may not train learns nothing of the file")
	require.Len(t, f.submitted, 1)
}

func TestARunOnItsWayIsShownToWhoSeesItsDataset(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	sent, err := f.submit(f.as(bob), "ds1", "ncsa.ray.predict", nil, "", nil)
	require.NoError(t, err)
	require.Equal(t, Sent{
		Run: "ft-ncsa.ray.predict-1", JobID: "1", Dataset: Dataset{ID: "ds1", Name: "Film reviews"},
		Kind: KindPredict, Noun: "prediction", By: bob, At: noon,
	}, sent)
	for person, want := range map[string]bool{alice: true, bob: true, carol: true, dave: false} {
		_, ok := f.pending(f.as(person), sent.Run)
		require.Equal(t, want, ok, person)
	}
	_, ok := f.pending(f.as(alice), "ft-other")
	require.False(t, ok)
	f.pass(time.Hour)
	_, ok = f.pending(f.as(alice), sent.Run)
	require.False(t, ok, "after an hour its message is lost")
}

func TestNewSettingsBeginWithTheNewestTraining(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	last, err := f.LastSettings(f.as(carol), "ds1")
	require.NoError(t, err)
	require.Equal(t, map[string]any{}, last, "there was none")
	values := func(v map[string]any) func(*job.Record) { return func(rec *job.Record) { rec.Settings.Values = v } }
	f.add("ft-old", values(map[string]any{"epochs": int64(9)}))
	chosen := values(map[string]any{"epochs": int64(7), "training.optimizer": "sgd", "task": "auto"})
	f.add("ft-new", to("ncsa.ray.finetune-advanced"), in(job.Failed), chosen)
	f.add("ft-prediction", to("ncsa.ray.predict"))
	f.add("ft-elsewhere", func(rec *job.Record) { rec.Request.Host = "https://other.example.org" }, values(map[string]any{"epochs": int64(8)}))
	f.add("ft-other", on("ds2"), values(map[string]any{"epochs": int64(6)}))
	last, err = f.LastSettings(f.as(carol), "ds1")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"epochs": int64(7), "training.optimizer": "sgd"}, last, "with its groups, without what is the default")

	f.add("ft-accepted", in(job.Accepted), func(rec *job.Record) {
		rec.Request.Parameters = map[string]any{"epochs": "4", "task": "auto", "rhubarb": 1}
	})
	last, err = f.LastSettings(f.as(carol), "ds1")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"epochs": int64(4)}, last, "a run that has not begun has the parameters of its form")

	f.add("ft-wrong", in(job.Failed), func(rec *job.Record) {
		rec.Request.Parameters = map[string]any{"epochs": "5", "learning_rate": "fast", "task": "auto"}
	})
	last, err = f.LastSettings(f.as(carol), "ds1")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"epochs": int64(5)}, last, "of a run that was refused, what was right")

	_, err = f.LastSettings(f.as(dave), "ds1")
	require.Equal(t, web.NotFound, problem(t, err))
	f.broken = errors.New("the disk is full")
	_, err = f.LastSettings(f.as(carol), "ds1")
	require.ErrorIs(t, err, f.broken)
}

func TestAFormSendsWhatDiffersFromItsDefaults(t *testing.T) {
	t.Parallel()
	all := forms(t)
	for name, c := range map[string]struct {
		extractor, posted string
		want              map[string]any
	}{
		"nothing":               {"ncsa.ray.finetune", "", map[string]any{}},
		"a default and a blank": {"ncsa.ray.finetune", "epochs=3&label_column=+&task=auto", map[string]any{}},
		"a number and a word":   {"ncsa.ray.finetune", "epochs=5&label_column=stars", map[string]any{"epochs": int64(5), "label_column": "stars"}},
		"a box that is ticked":  {"ncsa.ray.finetune", "dry_run=true", map[string]any{"dry_run": true}},
		"lines of a browser": {
			"ncsa.ray.finetune", "more_options=" + url.QueryEscape("seed: 1\r\nepochs: 2"), map[string]any{"more_options": "seed: 1\nepochs: 2"},
		},
		"a field that nobody asked for": {"ncsa.ray.finetune", "epochs=5&rhubarb=1&key=k&extractor=x", map[string]any{"epochs": int64(5)}},
		"something wrong stays":         {"ncsa.ray.finetune", "epochs=many&seed=", map[string]any{"epochs": "many", "dry_run": "false"}},
		"options of the form with all": {
			"ncsa.ray.finetune-advanced", "training.optimizer=sgd&epochs=4&data.repairs=true",
			map[string]any{"epochs": int64(4), "training": map[string]any{"optimizer": "sgd"}},
		},
		"two options of one group of it": {
			"ncsa.ray.finetune-advanced", "training.optimizer=sgd&training.weight_decay=0.5&training.scheduler=linear&data.repairs=true",
			map[string]any{"training": map[string]any{"optimizer": "sgd", "weight_decay": 0.5}},
		},
	} {
		e, ok := all.Named(c.extractor)
		require.True(t, ok)
		posted, err := url.ParseQuery(strings.TrimSpace(c.posted))
		require.NoError(t, err)
		require.Equal(t, c.want, parametersOf(e.Info, posted), name)
	}
}
