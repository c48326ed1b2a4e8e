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

// DiskPressure says which disk is too full for new jobs, and what to do; nil where all have room.
func (c *Cleaner) DiskPressure() error {
	c.disks.mu.Lock()
	defer c.disks.mu.Unlock()
	return c.disks.low
}

// look looks at the disks. If one is low, it removes downloaded bodies. If that is not enough, it pauses new jobs, which then wait
// in RabbitMQ instead of failing here.
func (c *Cleaner) look() {
	before := c.DiskPressure()
	err := c.makeRoom(before != nil)
	c.disks.mu.Lock()
	c.disks.low = err
	c.disks.mu.Unlock()
	switch {
	case err != nil && before == nil:
		c.log.Error("new jobs are paused", zap.Error(err))
		c.jobs.SetAdmission(false)
	case err == nil && before != nil:
		c.log.Info("new jobs are accepted again")
		c.jobs.SetAdmission(true)
	}
}

// makeRoom measures the disks and, where one is low, removes downloaded bodies: first what is above their limit, then as many
// as are missing.
func (c *Cleaner) makeRoom(wasLow bool) error {
	missing, err := c.disks.measure(wasLow, c.metrics)
	for limit, round := c.cfg.CacheBytes, 0; missing > 0 && round < 2; round++ {
		left, trimErr := c.trimCache(limit)
		if trimErr != nil {
			return errors.Join(err, trimErr)
		}
		missing, err = c.disks.measure(wasLow, c.metrics)
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
