package clowder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/localname"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
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

// StageMany puts the files of the datasets that the settings of the job name into room.Inputs, beside own, the files of its own dataset. It goes
// through them in small parts, and keeps in room.Notes what it has listed: a call after an error or a kill lists nothing twice. A turn ends when a
// job of another user wants the place; the next one goes on with what room.Kept has, and does nothing twice.
func (c *Platform) StageMany(ctx context.Context, rec job.Record, own []job.Input, room platform.Room, say platform.Say) ([]job.Input, []job.NotRead, error) {
	s, err := c.session(rec)
	if err != nil {
		return nil, nil, err
	}
	m := &many{c: c, s: s, rec: rec, dir: room.Inputs, wanted: room.Wanted, say: say}
	var n *notes
	if before, ok := room.Kept.Part.(*sofar); ok {
		m.sofar, room.Kept.Part = before, nil
		n, err = reopenNotes(room.Notes, before.noted)
	} else {
		n, err = m.begin(ctx, own, room)
	}
	if err != nil {
		return nil, nil, errors.Join(err, m.closeFolder())
	}
	err = m.all(ctx, n)
	n.close()
	if kind, _ := job.Classify(err); err != nil && kind == job.KindLater {
		room.Kept.Part, room.Kept.Files = m.sofar, len(m.inputs)
		return nil, nil, err
	}
	if err == nil {
		err = m.folder.Finish()
	}
	if err = errors.Join(err, m.closeFolder()); err != nil {
		return nil, nil, err
	}
	return m.made(own)
}

// begin opens the folder of the files and the notes, and chooses the datasets unless an earlier call has done that.
func (m *many) begin(ctx context.Context, own []job.Input, room platform.Room) (*notes, error) {
	m.sofar = &sofar{inputs: slices.Clone(own), said: time.Now()}
	for i := range m.inputs {
		m.bytes += m.inputs[i].Size
		m.inputs[i].Dataset, m.inputs[i].DatasetID = ownName(m.rec), m.rec.Request.DatasetID
	}
	n, sets, err := openNotes(room.Notes, m.rec.Settings.Datasets, m.s.Address(), func() ([]oneSet, error) { return m.choose(ctx) })
	if err != nil {
		return nil, err
	}
	m.sets = sets
	if m.folder, err = m.c.client.Parts(room.Inputs); err != nil {
		n.close()
		return nil, err
	}
	return n, nil
}

// made returns what all turns together have staged and left out.
func (m *many) made(own []job.Input) ([]job.Input, []job.NotRead, error) {
	ignore.Tell(m.ignored, m.say.Note)
	if m.hidden > 0 {
		m.left = append(m.left, job.NotRead{Name: text.Count(m.hidden, "dataset"), Reason: "you may not read it, or it was deleted"})
	}
	if m.hidden == len(m.sets) && len(m.sets) > 0 && len(own) == 0 {
		return nil, nil, job.Permanent(fmt.Errorf("none of the %s in data.datasets can be read: ask their owners for the right to view them, or name others", text.Count(len(m.sets), "dataset")))
	}
	return m.inputs, m.left, nil
}

// ownName is what the dataset is called that the job was started from.
func ownName(rec job.Record) string {
	if name := localname.Of(rec.Request.Name, maxFolder); name != "_" {
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
	say    platform.Say

	*sofar
}

// sofar is how far the turns of a job are.
type sofar struct {
	sets   []oneSet
	noted  int64          // bytes of the notes about the files of the datasets that are done
	folder *clowder.Parts // nil before the first dataset

	inputs  []job.Input
	left    []job.NotRead
	bytes   int64
	hidden  int // datasets that the user may not read
	late    int // datasets with an upload that did not end while the job waited for it
	ignored int // files that their datasets leave out
	done    int // datasets
	said    time.Time
}

// Close closes the folder of the files, where another turn does not come.
func (p *sofar) Close() error { return p.closeFolder() }

func (p *sofar) closeFolder() error {
	if p == nil || p.folder == nil {
		return nil
	}
	return p.folder.Close()
}

// all stages all datasets, unless its turn ends before.
func (m *many) all(ctx context.Context, n *notes) error {
	for listedNow := 0; m.done < len(m.sets); {
		batch, err := n.next(min(manyAtOnce, len(m.sets)-m.done))
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			if listedNow > 0 && m.wanted() {
				return job.Later(time.Millisecond, errTurn)
			}
			if batch, err = m.list(ctx, m.sets[m.done:min(m.done+manyAtOnce, len(m.sets))]); err != nil {
				return err
			}
			if err := n.add(batch); err != nil {
				return err
			}
			listedNow += len(batch)
		}
		if err := m.stage(ctx, m.sets[m.done:m.done+len(batch)], batch); err != nil {
			return err
		}
		m.done, m.noted = m.done+len(batch), n.good
		if listedNow > 0 {
			crash.At(crash.PartStaged)
			m.tell(len(m.sets))
		}
	}
	return nil
}

// tell says now and then how far the job is.
func (m *many) tell(sets int) {
	if time.Since(m.said) >= stageNews {
		m.said = time.Now()
		m.say.Passing(fmt.Sprintf("Downloaded %d of %s (%s, %s)", m.done, text.Count(sets, "dataset"), text.Count(len(m.inputs), "file"), text.Bytes(m.bytes)))
	}
}

// stage puts the listed files of some datasets into their folders. After an error nothing counts of them.
func (m *many) stage(ctx context.Context, sets []oneSet, batch []listed) (err error) {
	before := *m.sofar
	defer func() {
		if err != nil {
			*m.sofar = before
		}
	}()
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
		m.ignored += one.Ignored
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
	inputs, err := m.s.StagePart(ctx, files, m.folder)
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
