package main

import (
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/retention"
	"github.com/ncsa/clowder-ray/internal/s3"
)

// objectLimits bounds what an address of an object store may hold, as a dataset is bounded.
func objectLimits(set settings.Settings) s3.Limits {
	return s3.Limits{Objects: set.MaxFiles, Bytes: set.MaxBytes}
}

// retentionConfig returns the retention times and the disks.
func retentionConfig(set settings.Settings, volume volume.Volume) retention.Config {
	return retention.Config{
		Shared: volume.Dir, Overlays: volume.Overlays(), OverlayBytes: set.Scripts.PackagesBytes,
		Runs: volume.Run(""), Deliverables: volume.Deliverables(""), Keys: set.RetainKeys, RunFolders: set.RetainRuns, Records: set.RetainRecords,
		CacheBytes: set.CacheBytes, Disks: map[string]string{"SHARED_DIR": set.SharedDir, "STATE_DIR": set.StateDir}, MinFree: set.MinFreeBytes,
	}
}

var _ retention.Cache = (*clowder.Client)(nil)
