package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// pythonRemedy says what to do when no local Ray can be started.
const pythonRemedy = "set RAY_PYTHON to a Python that has ray, torch and transformers; in a checkout of this project, make setup installs one that is found by itself"

// localPython returns the interpreter for a local Ray: the one that RAY_PYTHON names, or else the newest one that make setup has
// installed in the cache, or else the default of RAY_PYTHON.
func (s *Settings) localPython() string {
	if s.RayPython != defaultPython {
		return s.RayPython
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return s.RayPython
	}
	newest, at := s.RayPython, time.Time{}
	markers, _ := filepath.Glob(filepath.Join(cache, "clowder-ray", "venv-*", "ready")) // the pattern is valid
	for _, marker := range markers {
		python := filepath.Join(filepath.Dir(marker), "bin", "python")
		info, err := os.Stat(marker)
		if _, missing := exec.LookPath(python); err == nil && missing == nil && info.ModTime().After(at) {
			newest, at = python, info.ModTime()
		}
	}
	return newest
}
