package clowder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// manyAtOnce is how many datasets are listed and then staged together: what a kill can cost, what is in memory of their lists, and how long
	// a job of another user waits for a place.
	manyAtOnce = 8
	// maxPatience is in how many datasets a job waits in vain for uploads to end, before it waits for none.
	maxPatience = 8
)

// errTurn says why a job of many datasets stands back for a moment.
var errTurn = errors.New("the downloads of other jobs take their turn")

// StageMany lays the files of the datasets that the settings of the job name into room.Inputs, beside own, the files of its own dataset. It goes
// through them in small parts, and keeps in room.Notes how far it is: a call after an error, a kill or the end of a turn goes on there. A turn
// ends when a job of another user wants the place.
func (c *Platform) StageMany(ctx context.Context, rec job.Record, own []job.Input, room platform.Room, say func(string)) ([]job.Input, []job.NotRead, error) {
	s, err := c.session(rec)
	if err != nil {
		return nil, nil, err
	}
	m := &many{c: c, s: s, rec: rec, dir: room.Inputs, wanted: room.Wanted, say: say, inputs: slices.Clone(own), said: time.Now()}
	for i := range m.inputs {
		m.bytes += m.inputs[i].Size
		m.inputs[i].Dataset, m.inputs[i].DatasetID = ownName(rec), rec.Request.DatasetID
	}
	n, sets, err := openNotes(room.Notes, rec.Settings.Datasets, s.Address(), func() ([]oneSet, error) { return m.choose(ctx) })
	if err != nil {
		return nil, nil, err
	}
	defer n.close()
	if err := m.all(ctx, n, sets); err != nil {
		return nil, nil, err
	}
	if m.hidden > 0 {
		m.left = append(m.left, job.NotRead{Name: text.Count(m.hidden, "dataset"), Reason: "you may not read it, or it was deleted"})
	}
	if m.hidden == len(sets) && len(sets) > 0 && len(own) == 0 {
		return nil, nil, job.Permanent(fmt.Errorf("none of the %s in data.datasets can be read: ask their owners for the right to view them, or name others", text.Count(len(sets), "dataset")))
	}
	return m.inputs, m.left, nil
}

// ownName is what the dataset is called that the job was started from.
func ownName(rec job.Record) string {
	if name := clowder.LocalName(rec.Request.Name, maxFolder); name != "_" {
		return name
	}
	return rec.Request.DatasetID
}

// many is one call of StageMany.
type many struct {
	c      *Platform
	s      versions.Session
	rec    job.Record
	dir    disk.Folder
	wanted func() bool
	say    func(string)

	inputs []job.Input
	left   []job.NotRead
	bytes  int64
	hidden int // datasets that the user may not read
	late   int // datasets with an upload that did not end while the job waited for it
	done   int
	said   time.Time
}

// all stages all datasets, unless its turn ends before.
func (m *many) all(ctx context.Context, n *notes, sets []oneSet) error {
	for listedNow := 0; m.done < len(sets); {
		batch, err := n.next(min(manyAtOnce, len(sets)-m.done))
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			if listedNow > 0 && m.wanted() {
				return job.Later(time.Millisecond, errTurn)
			}
			if batch, err = m.list(ctx, sets[m.done:min(m.done+manyAtOnce, len(sets))]); err != nil {
				return err
			}
			if err := n.add(batch); err != nil {
				return err
			}
			listedNow += len(batch)
		}
		if err := m.stage(ctx, sets[m.done:m.done+len(batch)], batch); err != nil {
			return err
		}
		m.done += len(batch)
		if listedNow > 0 {
			crash.At(crash.PartStaged)
			m.tell(len(sets))
		}
	}
	return nil
}

// tell says now and then how far the job is.
func (m *many) tell(sets int) {
	if time.Since(m.said) >= stageNews {
		m.said = time.Now()
		m.say(fmt.Sprintf("Downloaded %d of %s (%s, %s)", m.done, text.Count(sets, "dataset"), text.Count(len(m.inputs), "file"), text.Bytes(m.bytes)))
	}
}

// stage lays the listed files of some datasets into their folders.
func (m *many) stage(ctx context.Context, sets []oneSet, batch []listed) error {
	var files []clowder.File
	of := map[string]oneSet{} // by the id of a file
	limits := m.c.client.Config()
	for i, one := range batch {
		if one.Hidden {
			m.hidden++
		}
		if one.Late {
			m.late++
		}
		m.leave(one.Left)
		for _, f := range one.Files {
			of[f.ID] = sets[i]
			files = append(files, f.file())
			m.bytes += f.Size
		}
	}
	if len(m.inputs)+len(files) > limits.MaxFiles || m.bytes > limits.MaxBytes {
		return job.Permanent(fmt.Errorf("the datasets of the job have more than %s or %s, which is the limit of this service: name fewer in data.datasets, or ask the administrator to raise MAX_FILES and MAX_BYTES",
			text.Count(limits.MaxFiles, "file"), text.Bytes(limits.MaxBytes)))
	}
	if len(files) == 0 {
		return nil
	}
	inputs, err := m.s.Stage(ctx, files, m.dir, nil)
	if missing, ok := errors.AsType[*clowder.GoneError](err); ok {
		left, err := goneOf(m.rec, missing.Files)
		if err != nil {
			return err
		}
		for _, f := range missing.Barred {
			left = append(left, job.NotRead{Name: f.Path, Reason: whyBarred})
		}
		m.leave(left)
	} else if err != nil {
		return err
	}
	for _, in := range inputs {
		in.Dataset, in.DatasetID = of[in.ID].Folder, of[in.ID].ID
		m.inputs = append(m.inputs, in)
	}
	return nil
}

// leave remembers files that the job does without.
func (m *many) leave(files []job.NotRead) {
	m.left = append(m.left, files[:min(len(files), max(0, mostLate-len(m.left)))]...)
}
