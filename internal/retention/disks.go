package retention

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"
	"go.uber.org/zap"
)

// disks remembers how full the watched disks are.
type disks struct {
	folders map[string]string // by the name of the setting
	min     int64
	free    func(dir string) (int64, bool)

	mu  sync.Mutex
	low error
}

// Low says which disk is too full for new jobs, and what to do; nil where all have room.
func (k *Keeper) Low() error {
	k.disks.mu.Lock()
	defer k.disks.mu.Unlock()
	return k.disks.low
}

// look looks at the disks. If one is low, it removes downloaded bodies. If that is not enough, it pauses new jobs, which then wait
// in RabbitMQ instead of failing here.
func (k *Keeper) look() {
	before := k.Low()
	err := k.makeRoom(before != nil)
	k.disks.mu.Lock()
	k.disks.low = err
	k.disks.mu.Unlock()
	switch {
	case err != nil && before == nil:
		k.log.Error("new jobs are paused", zap.Error(err))
		k.jobs.Admit(false)
	case err == nil && before != nil:
		k.log.Info("new jobs are accepted again")
		k.jobs.Admit(true)
	}
}

// makeRoom measures the disks and, where one is low, removes downloaded bodies: first what is above their limit, then as many
// as are missing.
func (k *Keeper) makeRoom(wasLow bool) error {
	missing, err := k.disks.measure(wasLow, k.metrics)
	for limit, round := k.cfg.CacheBytes, 0; missing > 0 && round < 2; round++ {
		left, trimErr := k.trimCache(limit)
		if trimErr != nil {
			return errors.Join(err, trimErr)
		}
		missing, err = k.disks.measure(wasLow, k.metrics)
		limit = max(0, left-missing)
	}
	return err
}

// measure returns how many bytes are missing on the fullest disk, and which disks are too full. A disk that was full must
// recover with some more than is needed, so that the state does not flap.
func (d *disks) measure(wasLow bool, m *Metrics) (missing int64, err error) {
	need := d.min
	if wasLow {
		need += need / 10
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(d.folders)) {
		free, known := d.free(d.folders[name])
		if !known {
			continue
		}
		m.free.WithLabelValues(name).Set(float64(free))
		if free < need {
			missing = max(missing, need-free)
			faults = append(faults, TooFull(name, d.folders[name], free, d.min))
		}
	}
	return missing, errors.Join(faults...)
}

// TooFull says that the disk of a folder, named by its setting, has too little room for new jobs.
func TooFull(setting, dir string, free, need int64) error {
	return fmt.Errorf("%s: only %s are free on the disk of %s, and new jobs need %s: free space there, or lower MIN_FREE_BYTES",
		setting, humanize.Bytes(uint64(max(0, free))), dir, humanize.Bytes(uint64(max(0, need))))
}
