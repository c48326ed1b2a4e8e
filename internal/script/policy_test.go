package script

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/script/requirements"
)

func TestOnlyTrustedUsersRunWithoutASandbox(t *testing.T) {
	t.Parallel()
	trusting := Policy{Sandbox: SandboxNone, TrustedUsers: []string{"Alice@Example.org"}}
	for name, tc := range map[string]struct {
		policy Policy
		r      Request
		want   string
	}{
		"a trusted user":                    {trusting, Request{User: "alice@example.org"}, SandboxNone},
		"another user":                      {trusting, Request{User: "mallory@example.org"}, SandboxAuto},
		"a user who is not known":           {Policy{Sandbox: SandboxNone, TrustedUsers: []string{""}}, Request{}, SandboxAuto},
		"a trusted user in a pod":           {trusting, Request{User: "alice@example.org", Pods: true}, SandboxPod},
		"a list without SCRIPT_SANDBOX":     {Policy{Sandbox: SandboxAuto, TrustedUsers: []string{"alice@example.org"}}, Request{User: "alice@example.org"}, SandboxAuto},
		"the sandbox of the administrator":  {Policy{Sandbox: SandboxGVisor}, Request{}, SandboxGVisor},
		"pods, whatever the administrator ": {Policy{Sandbox: SandboxGVisor}, Request{Pods: true}, SandboxPod},
	} {
		spec, err := tc.policy.Allow(tc.r)
		require.NoError(t, err, name)
		require.Equal(t, tc.want, spec.Sandbox, name)
	}
}

func TestWhatIsNotOfferedIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy Policy
		r      Request
		want   string
	}{
		"two machines without pods":     {Policy{}, Request{Values: map[string]any{"nodes": int64(2)}}, "2 machines need a cluster with pods"},
		"two machines of a record":      {Policy{}, Request{Values: map[string]any{"nodes": 2.0}}, "2 machines need a cluster with pods"},
		"two machines with pods":        {Policy{}, Request{Pods: true, Values: map[string]any{"nodes": int64(2), "launcher": "auto"}}, ""},
		"two machines without torchrun": {Policy{}, Request{Pods: true, Values: map[string]any{"nodes": int64(2), "launcher": "python"}}, "need the launcher torchrun"},
		"a GPU":                         {Policy{}, Request{Values: map[string]any{"use_gpu": "yes"}}, "may not use GPUs"},
		"a GPU that is offered":         {Policy{GPU: true}, Request{Values: map[string]any{"use_gpu": "yes"}}, ""},
		"the network":                   {Policy{}, Request{Values: map[string]any{"network": "allow"}}, "no network"},
		"a network that is offered":     {Policy{Network: true}, Request{Values: map[string]any{"network": "allow"}}, ""},
	} {
		_, err := tc.policy.Allow(tc.r)
		if tc.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, tc.want, name)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
}

func TestTheRequirementsFileIsFound(t *testing.T) {
	t.Parallel()
	files := func(names ...string) (inputs []job.Input) {
		for _, name := range names {
			inputs = append(inputs, job.Input{ID: "id-of-" + name, Name: name, Path: "safe/" + name})
		}
		return inputs
	}
	for name, tc := range map[string]struct {
		values map[string]any
		inputs []job.Input
		want   string
		err    string
	}{
		"none":                     {nil, files("train.py"), "", ""},
		"at the top":               {nil, files("a/requirements.txt", "requirements.txt", "train.py"), "requirements.txt", ""},
		"beside the script":        {map[string]any{"script": "a/train.py"}, files("a/requirements.txt", "a/train.py", "requirements.txt"), "a/requirements.txt", ""},
		"beside a script by id":    {map[string]any{"script": "id-of-a/train.py"}, files("a/requirements.txt", "a/train.py", "requirements.txt"), "a/requirements.txt", ""},
		"the only one":             {nil, files("code/requirements.txt", "code/train.py"), "code/requirements.txt", ""},
		"two that are not beside":  {nil, files("a/requirements.txt", "b/requirements.txt"), "", ""},
		"one with another name":    {map[string]any{"requirements_file": "deps/gpu.txt"}, files("deps/gpu.txt", "requirements.txt"), "deps/gpu.txt", ""},
		"one that is not there":    {map[string]any{"requirements_file": "gpu.txt"}, files("requirements.txt"), "", `no requirements file "gpu.txt"`},
		"one that is not wanted":   {map[string]any{"requirements_file": "none"}, files("requirements.txt"), "", ""},
		"a script that is nowhere": {map[string]any{"script": "x.py"}, files("requirements.txt"), "requirements.txt", ""},
	} {
		in, found, err := RequirementsFile(tc.values, tc.inputs)
		if tc.err != "" {
			require.ErrorContains(t, err, tc.err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, tc.want, in.Name, name)
		require.Equal(t, tc.want != "", found, name)
	}
}

func TestTheScriptIsNamedByItsPath(t *testing.T) {
	t.Parallel()
	inputs := []job.Input{{ID: "1f", Name: "code/train.py", Path: "code/train.py"}}
	values := map[string]any{"script": "1f", "metric": "loss"}
	require.Equal(t, map[string]any{"script": "code/train.py", "metric": "loss"}, NameEntry(values, inputs))
	require.Equal(t, "1f", values["script"], "the values of the caller stay")
	for _, other := range []string{"", "code/train.py", "2f"} {
		values := map[string]any{"script": other}
		require.Equal(t, values, NameEntry(values, inputs))
	}
}

func TestAFileThatIsNoListOfPackagesIsNotRead(t *testing.T) {
	t.Parallel()
	p := &Preparer{Packages: requirements.New(requirements.Config{Mode: requirements.Off}, disk.Folder{})}
	inputs := []job.Input{{Name: "requirements.txt", Path: "requirements.txt", Size: requirements.MaxFile + 1}}
	err := p.Install(t.Context(), &Spec{}, nil, inputs, disk.Folder{Volume: t.TempDir()}, nil)
	require.ErrorContains(t, err, "requirements.txt is too large for a list of packages")
	spec := Spec{}
	require.NoError(t, p.Install(t.Context(), &spec, nil, nil, disk.Folder{}, nil))
	require.True(t, spec.Resolved, "there is nothing to install")
}
