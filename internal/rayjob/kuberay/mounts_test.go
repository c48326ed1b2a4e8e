package kuberay

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// A pod sees its own run, the trainer and the models that it reads, and can write to the first only.
func TestAPodSeesItsRunOnly(t *testing.T) {
	t.Parallel()
	a := anAttempt()
	a.Reads = []string{"registry/65a1/films/2/model", "models", "models"}
	scaled := example()
	scaled.Profiles[0].MinWorkers = new(int)
	want := []corev1.VolumeMount{
		{Name: "shared", MountPath: "/shared/runs/ft-abcdefghijklmnopqrst", SubPath: "runs/ft-abcdefghijklmnopqrst"},
		{Name: "shared", MountPath: "/shared/models", SubPath: "models", ReadOnly: true},
		{Name: "shared", MountPath: "/shared/registry/65a1/films/2/model", SubPath: "registry/65a1/films/2/model", ReadOnly: true},
		{Name: "shared", MountPath: "/shared/trainer/1f", SubPath: "trainer/1f", ReadOnly: true},
	}
	for name, config := range map[string]Config{"with fixed workers": example(), "with an autoscaler": scaled} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := made(t, a, config, 0).Spec.RayClusterSpec
			for _, pod := range []corev1.PodTemplateSpec{spec.HeadGroupSpec.Template, spec.WorkerGroupSpecs[0].Template} {
				var shared []corev1.VolumeMount
				for _, m := range pod.Spec.Containers[0].VolumeMounts {
					if m.Name == "shared" {
						shared = append(shared, m)
					}
				}
				require.Equal(t, want, shared)
			}
			if spec.AutoscalerOptions != nil {
				for _, m := range spec.AutoscalerOptions.VolumeMounts {
					require.NotEqual(t, "shared", m.Name, "the autoscaler needs nothing of the volume")
				}
			}
		})
	}
}

// The bodies that runs share through links belong to the user of the service.
func TestPodsAreAnotherUserThanTheServiceInItsGroup(t *testing.T) {
	t.Parallel()
	other := example()
	other.User = new(int64(2000))
	for want, config := range map[int64]Config{1001: example(), 2000: other} {
		spec := made(t, anAttempt(), config, 0).Spec.RayClusterSpec
		for _, pod := range []corev1.PodTemplateSpec{spec.HeadGroupSpec.Template, spec.WorkerGroupSpecs[0].Template} {
			require.Equal(t, want, *pod.Spec.SecurityContext.RunAsUser)
			require.EqualValues(t, 1000, *pod.Spec.SecurityContext.RunAsGroup)
			require.EqualValues(t, 1000, *pod.Spec.SecurityContext.FSGroup)
			box := pod.Spec.Containers[0]
			require.Equal(t, []string{"umask", "002"}, box.Args, "what it writes is open to the group")
			for _, name := range []string{"USER", "LOGNAME"} { // an image need not know the uid
				require.Contains(t, box.Env, corev1.EnvVar{Name: name, Value: "ray"})
			}
		}
	}
}

func TestFoldersThatNoPodMountsAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rayjob.Attempt){
		"a run folder elsewhere":           func(a *rayjob.Attempt) { a.Dir = "/elsewhere/runs/x" },
		"a run folder beside the volume":   func(a *rayjob.Attempt) { a.Dir = "/shared-2/runs/x" },
		"the whole volume as a run folder": func(a *rayjob.Attempt) { a.Dir = "/shared" },
		"a run folder that leads out":      func(a *rayjob.Attempt) { a.Dir = "/shared/../etc" },
		"a read of all runs":               func(a *rayjob.Attempt) { a.Reads = []string{"runs"} },
		"a read within the own folder":     func(a *rayjob.Attempt) { a.Reads = []string{"runs/" + a.Run + "/inputs"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, c := anAttempt(), example().withDefaults()
			change(&a)
			_, err := c.newRayJob(a, c.Profiles[0])
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind, "%v", err)
			_, err = c.newRayJob(a, c.Profiles[2])
			require.NoError(t, err, "a standing cluster mounts what it mounts")
		})
	}
}

func TestATrainerInTheImageIsNotMounted(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"", "/opt/trainer", "/shared"} {
		a := anAttempt()
		a.TrainerPath = where
		mounts, err := example().sharedMounts(a)
		require.NoError(t, err)
		require.Len(t, mounts, 1, "the run folder")
	}
	a := anAttempt()
	a.TrainerPath = "/shared/trainer/1f:/opt/more"
	mounts, err := example().sharedMounts(a)
	require.NoError(t, err)
	require.Len(t, mounts, 2)
}

// The kubelet would make a missing folder, as root, and follow a link.
func TestOnlyFoldersThatAreThereAreMounted(t *testing.T) {
	t.Parallel()
	c := example()
	c.Volume = t.TempDir()
	model := "registry/65a1/films/2/model"
	require.NoError(t, os.MkdirAll(filepath.Join(c.Volume, model), 0o700))
	there, err := c.present([]string{"models", model, "registry/65a1/films/3/model"})
	require.NoError(t, err)
	require.Equal(t, []string{model}, there)

	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(c.Volume, "models")))
	_, err = c.present([]string{"models"})
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindLater, kind, "jobs wait until the operator has seen to it")
	require.ErrorContains(t, err, "SHARED_DIR: the folder models cannot be mounted into pods")
	_, isSetting := errors.AsType[*rayjob.SettingError](err)
	require.True(t, isSetting, "its text is for the operator and not for users")
}
