package kuberay

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// sharedVolume is the name of the shared volume in a pod.
const sharedVolume = "shared"

// sharedMounts are the parts of the shared volume that the pods of an attempt see, each where it lies on the whole volume: the run
// folder to write into, the trainer and what the attempt reads besides only to read. No other run, no download of others and no
// other model is in the pods.
func (c Config) sharedMounts(a rayjob.Attempt) ([]corev1.VolumeMount, error) {
	own, ok := c.below(a.Dir)
	if !ok {
		return nil, job.Permanent(errors.New("the run folder is not on the volume that the pods mount: ask the operator of the extractor to set RAY_SHARED_DIR to " +
			"where that volume is mounted"))
	}
	reads := slices.Clone(a.Reads)
	for dir := range strings.SplitSeq(a.TrainerPath, ":") {
		if name, ok := c.below(dir); ok { // one that is not lies in the image
			reads = append(reads, name)
		}
	}
	slices.Sort(reads)
	mounts := []corev1.VolumeMount{{Name: sharedVolume, MountPath: a.Dir, SubPath: own}}
	for _, name := range slices.Compact(reads) {
		if overlap(name, own) {
			return nil, job.Permanent(fmt.Errorf("the attempt would read %s, which holds its own folder or lies in it: report this to those who make the extractor", name))
		}
		mounts = append(mounts, corev1.VolumeMount{Name: sharedVolume, MountPath: path.Join(c.Mount, name), SubPath: name, ReadOnly: true})
	}
	return mounts, nil
}

// below is the path of a folder below the shared volume as the pods see it; false for what is not below it.
func (c Config) below(dir string) (string, bool) {
	name, ok := strings.CutPrefix(path.Clean(dir), strings.TrimSuffix(path.Clean(c.Mount), "/")+"/")
	return name, ok && name != "" && fs.ValidPath(name)
}

// overlap says that one of two folders lies in the other.
func overlap(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// present leaves out of the folders that an attempt reads those that are not there: the kubelet would make them, as root. The trainer
// says what it misses. A link is a fault that lasts until the operator repairs it: the kubelet would follow it.
func (c Config) present(reads []string) ([]string, error) {
	if c.Volume == "" {
		return reads, nil
	}
	var there []string
	for _, name := range reads {
		root, err := disk.Folder{Volume: c.Volume, Name: name}.Open()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, disk.ErrNotAllowed):
			return nil, job.Later(settingPause, &rayjob.SettingError{
				Setting: "SHARED_DIR", Text: fmt.Sprintf("SHARED_DIR: pods cannot be given the folder %s: %v: put a folder in its place", name, err),
			})
		case err != nil:
			return nil, job.Retryable(errors.New("a folder of the shared volume cannot be opened"))
		}
		if err := root.Close(); err != nil {
			return nil, job.Retryable(errors.New("a folder of the shared volume cannot be opened"))
		}
		there = append(there, name)
	}
	return there, nil
}
