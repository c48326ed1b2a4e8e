package script

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/script/requirements"
)

// preparer prepares scripts where packages are installed as mode says. The image has torch.
func preparer(t *testing.T, mode string) *Preparer {
	t.Helper()
	cfg := requirements.Config{Mode: mode, Image: map[string]string{"torch": "2.15.0"}, Python: filepath.Join(t.TempDir(), "none"), Timeout: time.Minute}
	return &Preparer{Packages: requirements.New(cfg, disk.Folder{Volume: t.TempDir(), Name: OverlayFolder})}
}

// inFolder writes requirements.txt as a staged file, whose path may differ from its name in the dataset.
func inFolder(t *testing.T, doc string) (inputs []job.Input, folder disk.Folder) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "safe"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "safe", "1.txt"), []byte(doc), 0o600))
	return []job.Input{{Name: "code/requirements.txt", Path: "safe/1.txt", Size: int64(len(doc))}}, disk.Folder{Volume: dir}
}

func TestAUserWithoutAGPUKeepsTheOtherSettings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		gpu       bool
		use, want any
	}{
		"none is offered, and the user wants what there is": {false, "auto", "no"},
		"none is offered, and the user wants none":          {false, "no", "no"},
		"none is offered, and the form has no such field":   {false, nil, "no"},
		"one is offered":                      {true, "auto", "auto"},
		"one is offered, and the user has it": {true, "yes", "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := map[string]any{"script": "train.py", "use_gpu": tc.use}
			p := &Preparer{Policy: Policy{Sandbox: SandboxBubblewrap, GPU: tc.gpu}}
			spec, settings, err := p.Allow(Request{Values: values})
			require.NoError(t, err)
			require.Equal(t, map[string]any{"script": "train.py", "use_gpu": tc.want}, settings)
			require.Equal(t, tc.gpu, spec.GPU)
			require.Equal(t, tc.use, values["use_gpu"], "the values of the caller stay")
		})
	}
	_, _, err := (&Preparer{}).Allow(Request{Values: map[string]any{"use_gpu": "yes"}})
	require.ErrorContains(t, err, "scripts may not use GPUs here", "who insists on a GPU is not given a slow run")
}

func TestWhoTheUserIsMattersOnlyWhereSomeRunWithoutASandbox(t *testing.T) {
	t.Parallel()
	for _, sandbox := range []string{SandboxAuto, SandboxBubblewrap, SandboxGVisor, SandboxPod, SandboxNone} {
		p := &Preparer{Policy: Policy{Sandbox: sandbox, TrustedUsers: []string{"a@example.org"}}}
		anonymous, _, err := p.Allow(Request{Values: map[string]any{}})
		require.NoError(t, err)
		trusted, _, err := p.Allow(Request{User: "a@example.org", Values: map[string]any{}})
		require.NoError(t, err)
		require.Equal(t, p.NeedsUser(), anonymous.Sandbox != trusted.Sandbox, sandbox)
	}
}

func TestWhereNothingIsInstalledTheUserLearnsWhatTheImageLacks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		doc  string
		said []string
	}{
		"all is there": {"torch\n", nil},
		"one is not": {"torch\nwandb\n", []string{
			"Note: The requirements file is not installed here, the script has the packages of the administrator: wandb is missing",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs, folder := inFolder(t, tc.doc)
			var said []string
			spec := Spec{}
			require.NoError(t, preparer(t, requirements.Off).Install(t.Context(), &spec, nil, inputs, folder, func(s string) { said = append(said, s) }))
			require.Equal(t, tc.said, said)
			require.Equal(t, Spec{}, spec, "the packages are not resolved, so the trainer looks itself")
		})
	}
}

func TestAFaultOfARequirementsFileNamesTheFileAsTheDatasetShowsIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		doc, want string
		kind      job.Kind
	}{
		"an option": {"-r /etc/passwd", "code/requirements.txt: the requirements file cannot be used: line 1: options such as", job.KindPermanent},
		"no Python": {"wandb", "code/requirements.txt: start uv: ", job.KindRetryable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs, folder := inFolder(t, tc.doc)
			var said []string
			p, spec := preparer(t, requirements.Index), Spec{}
			err := p.Install(t.Context(), &spec, nil, inputs, folder, func(s string) { said = append(said, s) })
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
			require.Equal(t, []string{"Installing the packages of code/requirements.txt"}, said)
			require.Equal(t, Spec{}, spec)
		})
	}
	inputs, folder := inFolder(t, "# nothing\n")
	spec := Spec{}
	require.NoError(t, preparer(t, requirements.Index).Install(t.Context(), &spec, nil, inputs, folder, func(string) {}))
	require.Equal(t, Spec{Resolved: true}, spec, "without a package there is no overlay, and no Python is asked")
}

func TestOnlyAFileOfTheDatasetIsReadAsAListOfPackages(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path string) error{
		"nothing":    func(string) error { return nil },
		"a link out": func(path string) error { return os.Symlink("/etc/passwd", path) },
		"a pipe":     func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder":   func(path string) error { return os.Mkdir(path, 0o700) },
		"an endless one": func(path string) error { // larger than Clowder said
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, requirements.MaxFile+1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inputs, folder := inFolder(t, "torch")
			path := filepath.Join(folder.Volume, "safe", "1.txt")
			require.NoError(t, os.Remove(path))
			require.NoError(t, plant(path))
			said := 0
			err := preparer(t, requirements.Index).Install(t.Context(), &Spec{}, nil, inputs, folder, func(string) { said++ })
			require.ErrorContains(t, err, "read code/requirements.txt: ")
			require.NotContains(t, err.Error(), folder.Volume)
			require.Zero(t, said)
		})
	}
}

func TestARequirementsFileOfTheFormThatIsMissingEndsTheJob(t *testing.T) {
	t.Parallel()
	inputs, folder := inFolder(t, "torch")
	spec := Spec{}
	err := preparer(t, requirements.Index).Install(t.Context(), &spec, map[string]any{"requirements_file": " ./gpu.txt "}, inputs, folder, nil)
	require.EqualError(t, err, `the dataset has no requirements file "./gpu.txt": write its name as the dataset shows it, or leave the field empty`)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.False(t, spec.Resolved)
	require.NoError(t, preparer(t, requirements.Index).Install(t.Context(), &spec, map[string]any{"requirements_file": "none"}, inputs, folder, nil))
	require.True(t, spec.Resolved, "the user wants no packages")
}
