package pipeline

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/internal/script"
	"github.com/ncsa/clowder-ray/internal/script/requirements"
)

// preparer installs no packages: its image has torch only.
func preparer(dir string, policy script.Policy) *script.Preparer {
	policy.Check, policy.CheckpointEvery = script.CheckReport, time.Minute
	policy.Limits = script.Limits{MemoryBytes: 8 << 30, Processes: 512, GraceSeconds: 30}
	cfg := requirements.Config{Mode: requirements.Off, Image: map[string]string{"torch": "2.15.0"}}
	return &script.Preparer{Policy: policy, Packages: requirements.New(cfg, disk.Folder{Volume: dir, Name: "overlays"})}
}

// acceptScript stores a new job of the extractor for scripts.
func (b *bench) acceptScript(t *testing.T, parameters map[string]any) {
	t.Helper()
	rec := jobtest.Record(run, "h1")
	rec.Kind, rec.Request.Extractor, rec.Request.Parameters = job.Script, "ncsa.ray.script", parameters
	_, _, err := b.store.Accept(t.Context(), rec)
	require.NoError(t, err)
}

// podRay runs scripts in pods of their own.
type podRay struct {
	*fakeRay
	refuse error
}

func (p podRay) Isolates(rayjob.Resources) (bool, error) { return true, p.refuse }

func TestAScriptGetsWhatThePolicyAllows(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy     script.Policy
		pods       bool
		parameters map[string]any
		sandbox    string
		changed    string
		workers    int
	}{
		"nothing was set":               {script.Policy{Sandbox: script.SandboxAuto}, false, nil, "auto", `{"use_gpu": "no"}`, 1},
		"a GPU is offered":              {script.Policy{Sandbox: script.SandboxGVisor, GPU: true}, false, nil, "gvisor", `{}`, 1},
		"pods of its own, two machines": {script.Policy{Sandbox: script.SandboxAuto, GPU: true}, true, map[string]any{"nodes": 2}, "pod", `{"nodes": 2}`, 2},
		"a trusted user":                {script.Policy{Sandbox: script.SandboxNone, TrustedUsers: []string{"Alice@example.org"}, GPU: true}, false, nil, "none", `{}`, 1},
		"a user who is not trusted":     {script.Policy{Sandbox: script.SandboxNone, TrustedUsers: []string{"bob@example.org"}, GPU: true}, false, nil, "auto", `{}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.stager.Scripts = preparer(b.dir, tc.policy)
				if tc.pods {
					b.backend.Backend = podRay{fakeRay: b.ray}
				}
				b.acceptScript(t, tc.parameters)
				b.runUntilOver(t)
				doc, err := os.ReadFile(filepath.Join(b.cfg.Volume.Run(run).Path(), "spec.json"))
				require.NoError(t, err)
				resultstest.RequireValid(t, "spec.schema.json", doc)
				var spec struct {
					Kind     string
					Settings map[string]any
					Sources  map[string]string
					Script   script.Spec
				}
				require.NoError(t, json.Unmarshal(doc, &spec))
				require.Equal(t, "script", spec.Kind)
				maps.DeleteFunc(spec.Settings, func(name string, _ any) bool { return spec.Sources[name] != "form" })
				changed, err := json.Marshal(spec.Settings)
				require.NoError(t, err)
				require.JSONEq(t, tc.changed, string(changed))
				require.Equal(t, tc.sandbox, spec.Script.Sandbox)
				require.True(t, spec.Script.Resolved, "there is no requirements file")
				require.EqualValues(t, 8<<30, spec.Script.Limits.MemoryBytes)
				require.True(t, b.ray.attempts[0].Script)
				require.Equal(t, tc.workers, b.ray.attempts[0].Resources.Workers)
			})
		})
	}
}

func TestAScriptThatIsNotOfferedIsRefusedBeforeTheDownload(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		parameters map[string]any
		pods       error
		want       string
	}{
		"several machines":       {map[string]any{"nodes": 2}, nil, "2 machines need a cluster with pods of their own"},
		"a GPU":                  {map[string]any{"use_gpu": "yes"}, nil, "scripts may not use GPUs here"},
		"the network":            {map[string]any{"network": "allow"}, nil, "scripts have no network here"},
		"no class isolates pods": {nil, job.Permanent(os.ErrNotExist), "file does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.platform.stage = func() error { t.Error("it was downloaded"); return nil }
				if tc.pods != nil {
					b.backend.Backend = podRay{b.ray, tc.pods}
				}
				b.acceptScript(t, tc.parameters)
				b.runUntilOver(t)
				ending := b.get(t, run).Ending
				require.Equal(t, job.Failed, ending.State)
				require.True(t, ending.BadInput)
				require.Contains(t, ending.Text, tc.want)
				require.Empty(t, b.ray.submits)
			})
		})
	}
}

func TestTheUserLearnsWhichPackagesDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.files = map[string]string{"requirements.txt": "torch==2.3\n", "train.py": "print(1)\n"}
		b.acceptScript(t, nil)
		b.runUntilOver(t)
		require.Contains(t, strings.Join(texts(b.published.of(run)), "\n"), "torch is 2.15.0 instead of 2.3")
		var spec script.Spec
		require.NoError(t, json.Unmarshal(b.get(t, run).Script, &spec))
		require.False(t, spec.Resolved, "nobody has installed them")
	})
}

func TestASilentScriptIsNotEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.ray.script = func(_ string, look int) rayjob.Observation {
			if look < 600 { // ten minutes, which is longer than a training may be silent
				return rayjob.Observation{Verdict: rayjob.Running}
			}
			return rayjob.Observation{Verdict: rayjob.Succeeded}
		}
		b.acceptScript(t, map[string]any{"max_minutes": 30})
		b.runUntilOver(t)
		require.Len(t, b.ray.submits, 1)
		require.Equal(t, job.Done, b.get(t, run).State)
	})
}

func TestWhatAFailedScriptHadSavedIsDelivered(t *testing.T) {
	t.Parallel()
	const why = "The script ended with exit code 3. Look at the end of the log"
	for name, tc := range map[string]struct {
		arrange   func(t *testing.T, b *bench)
		text      string
		delivered int
	}{
		"it is delivered": {text: why + ". What the script had saved is delivered with its log: 1 file. Results in folder x", delivered: 1},
		"Clowder refuses it": {
			arrange: func(_ *testing.T, b *bench) {
				b.platform.refuse = []error{job.Permanent(os.ErrPermission)}
			}, text: why + ". Its files could not be delivered: permission denied", delivered: 1,
		},
		"Clowder is away for a moment": {
			arrange: func(_ *testing.T, b *bench) {
				b.platform.refuse = []error{job.Retryable(os.ErrDeadlineExceeded), job.Retryable(os.ErrDeadlineExceeded)}
			}, text: why + ". What the script had saved is delivered", delivered: 3,
		},
		"a file has changed": {
			arrange: func(t *testing.T, b *bench) {
				t.Helper()
				b.ray.script = func(string, int) rayjob.Observation {
					require.NoError(t, os.WriteFile(filepath.Join(b.cfg.Volume.Run(run).Path(), "out", "ckpt.pt"), []byte("other"), 0o600))
					return rayjob.Observation{Verdict: rayjob.Failed}
				}
			}, text: why,
		},
		"nothing was saved": {
			arrange: func(t *testing.T, b *bench) {
				t.Helper()
				b.ray.script = func(string, int) rayjob.Observation {
					require.NoError(t, os.Remove(filepath.Join(b.cfg.Volume.Run(run).Path(), "partial.json")))
					return rayjob.Observation{Verdict: rayjob.Failed}
				}
			}, text: why,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.ray.scriptFails = true
				b.ray.script = func(string, int) rayjob.Observation { return rayjob.Observation{Verdict: rayjob.Failed} }
				if tc.arrange != nil {
					tc.arrange(t, b)
				}
				b.acceptScript(t, nil)
				b.runUntilOver(t)
				rec := b.get(t, run)
				require.Equal(t, job.Failed, rec.State)
				require.True(t, strings.HasPrefix(rec.Ending.Text, tc.text), rec.Ending.Text)
				require.Len(t, b.platform.delivered, tc.delivered)
				require.Len(t, b.ray.submits, 1, "a script that fails is not started again")
				said := b.published.of(run)
				require.Equal(t, message.StatusError, said[len(said)-1].Kind)
				require.Equal(t, rec.Ending.Text, said[len(said)-1].Text)
			})
		})
	}
}

func TestAScriptCannotMakeAModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.ray.script = func(string, int) rayjob.Observation {
			require.NoError(t, resultstest.Play(b.cfg.Volume.Run(run).Path(), run, 1))
			return rayjob.Observation{Verdict: rayjob.Succeeded}
		}
		b.acceptScript(t, nil)
		b.runUntilOver(t)
		require.Equal(t, job.Failed, b.get(t, run).State)
		require.Contains(t, b.get(t, run).Ending.Text, "a result of another kind")
		require.Empty(t, b.platform.delivered)
	})
}
