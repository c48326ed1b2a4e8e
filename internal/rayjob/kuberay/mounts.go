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

// sharedMounts returns the parts of the shared volume that the pods of an attempt can see, at their usual paths: the run folder
// for writing, and the trainer and the attempt's other folders for reading. The pods see no other run, download or model.
func (c Config) sharedMounts(a rayjob.Attempt) ([]corev1.VolumeMount, error) {
	own, ok := c.below(a.Dir)
	if !ok {
		return nil, job.Permanent(errors.New("the run folder is not on the volume that the pods mount: ask the administrator of the extractor to set RAY_SHARED_DIR to " +
			"the path where that volume is mounted"))
	}
	reads := slices.Clone(a.Reads)
	for dir := range strings.SplitSeq(a.TrainerPath, ":") {
		if name, ok := c.below(dir); ok { // any other folder is in the image
			reads = append(reads, name)
		}
	}
	slices.Sort(reads)
	mounts := []corev1.VolumeMount{{Name: sharedVolume, MountPath: a.Dir, SubPath: own}}
	for _, name := range slices.Compact(reads) {
		if overlap(name, own) {
			return nil, job.Permanent(fmt.Errorf("the attempt cannot mount %s, which overlaps its run folder: report this as a bug in the extractor", name))
		}
		mounts = append(mounts, corev1.VolumeMount{Name: sharedVolume, MountPath: path.Join(c.Mount, name), SubPath: name, ReadOnly: true})
	}
	return mounts, nil
}

// below returns the path of a folder relative to the shared volume in the pods; false for a folder outside it.
func (c Config) below(dir string) (string, bool) {
	name, ok := strings.CutPrefix(path.Clean(dir), strings.TrimSuffix(path.Clean(c.Mount), "/")+"/")
	return name, ok && name != "" && fs.ValidPath(name)
}

// overlap reports that one of two folders contains the other.
func overlap(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// present drops missing folders, which the kubelet would create as root; the trainer reports what it misses. A symbolic link is
// an error until the administrator replaces it, since the kubelet would follow it.
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
				Setting: "SHARED_DIR", Text: fmt.Sprintf("SHARED_DIR: the folder %s cannot be mounted into pods: %v: replace it with a real folder", name, err),
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
