package kuberay

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

func TestWhichPodsStartAWarmProcess(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*rayjob.Attempt)
		want   bool
	}{
		"those of a training":                    {func(*rayjob.Attempt) {}, true},
		"none with less than a CPU":              {func(*rayjob.Attempt) {}, false},
		"none where warm processes are off":      {func(a *rayjob.Attempt) { a.Warm = 0 }, false},
		"none of those that run a user's script": {func(a *rayjob.Attempt) { a.Script = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := anAttempt()
			a.Warm = 4
			tc.change(&a)
			c := example()
			c.Script.SharedKernel = true
			if name == "none with less than a CPU" {
				c.Head.CPU, c.Profiles[0].CPU = resource.MustParse("900m"), resource.MustParse("900m")
			}
			rj := made(t, a, c, 0)
			require.NotContains(t, rj.Spec.RuntimeEnvYAML, "WARM_WORKERS", "its cluster ends with it")
			spec := rj.Spec.RayClusterSpec
			templates := map[string]corev1.PodTemplateSpec{"driver": spec.HeadGroupSpec.Template}
			for _, group := range spec.WorkerGroupSpecs {
				templates["worker"] = group.Template
			}
			for role, pod := range templates {
				box := pod.Spec.Containers[0]
				command := "cd / && PYTHONPATH=/shared/trainer/1f python -B -m trainer.standby.pod " + role
				require.Equal(t, tc.want, strings.Contains(strings.Join(box.Args, " "), command), role)
				require.Equal(t, tc.want, slices.Contains(box.Env, corev1.EnvVar{Name: "WARM_POD", Value: a.Name()}), role)
			}
		})
	}
}

func TestWarmProcessesAreKeptOnStandingClusters(t *testing.T) {
	t.Parallel()
	a := anAttempt()
	a.Warm = 4
	require.Contains(t, made(t, a, example(), 2).Spec.RuntimeEnvYAML, `"WARM_WORKERS":"4"`)
}

// KubeRay joins the arguments with blanks and appends its own command. Both programs here are stand-ins that say what they are told.
func TestThePodStartsItsWarmProcessBesideRay(t *testing.T) {
	t.Parallel()
	a := anAttempt()
	a.Warm = 4
	box := made(t, a, example(), 0).Spec.RayClusterSpec.HeadGroupSpec.Template.Spec.Containers[0]
	bin, said := t.TempDir(), filepath.Join(t.TempDir(), "said")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", said).Run())
	for name, does := range map[string]string{"python": `echo "$PYTHONPATH $PWD $(umask) $*" >` + said, "ray": "cat " + said} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+does+"\n"), 0o700))
	}
	shell := exec.CommandContext(t.Context(), "bash", "-c", "--", strings.Join(box.Args, " ")+" && ulimit -n 1024; ray start --block")
	shell.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	out, err := shell.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "/shared/trainer/1f / 0002 -B -m trainer.standby.pod driver\n", string(out))
}
