package clowder

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
)

const (
	cacheIndex = "index.jsonl"
	// maxIndexLine is the longest line that is read, in bytes; one of ours has about 250.
	maxIndexLine = 16 << 10
	// maxIndexBytes is how much of the end of an index is read, and maxIndexFiles how many files are taken from it. What is left
	// out is downloaded again.
	maxIndexBytes = 64 << 20
	maxIndexFiles = 250_000
	// indexTries is how often the index is opened where something else is in its place.
	indexTries = 3
)

// cacheLine is one line of the index; later lines win.
type cacheLine struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
	Time   int64  `json:"mtime_ns"`
	// Used is when a run used the body last, in seconds since 1970; older indexes lack it.
	Used int64 `json:"used,omitempty"`
}

// openIndex opens the index and reads what can be read of it: whatever the file holds, or is, the service starts. One with
// anything else than lines of ours is written again.
func (c *cache) openIndex() error {
	err := c.openIndexFile()
	for try := 1; errors.Is(err, disk.ErrNotAllowed) && try < indexTries; try++ {
		c.log.Warn("the index of the downloaded files was not a file and is replaced", zap.Error(err))
		if err = c.root.RemoveAll(cacheIndex); err == nil {
			err = c.openIndexFile()
		}
	}
	if err != nil {
		return err
	}
	whole, err := c.readIndex(maxIndexFiles)
	if err != nil {
		return errors.Join(err, c.index.Close())
	}
	if !whole {
		c.log.Warn("the index of the downloaded files was damaged or too large: what could not be read is downloaded again")
		if err := c.compact(true); err != nil {
			c.log.Warn("the index of the downloaded files cannot be rewritten", zap.Error(err)) // what is appended to it counts
		}
	}
	return nil
}

// openIndexFile opens a regular file for reading and appending. The error wraps disk.ErrNotAllowed where something else is there.
func (c *cache) openIndexFile() error {
	seen, err := c.root.Lstat(cacheIndex)
	if err == nil && !seen.Mode().IsRegular() {
		return fmt.Errorf("%s is no file: %w", cacheIndex, disk.ErrNotAllowed)
	}
	f, err := c.root.OpenFile(cacheIndex, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	seen, err = c.root.Lstat(cacheIndex)
	opened, statErr := f.Stat()
	if err = errors.Join(err, statErr); err == nil && (!opened.Mode().IsRegular() || !os.SameFile(seen, opened)) {
		err = fmt.Errorf("%s was replaced while it was opened: %w", cacheIndex, disk.ErrNotAllowed)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	c.index = f
	return nil
}

// readIndex reads the lines of the index, of at most most files, and reports whether it holds nothing else.
func (c *cache) readIndex(most int) (whole bool, err error) {
	info, err := c.index.Stat()
	if err != nil {
		return false, err
	}
	start := max(0, info.Size()-maxIndexBytes)
	in := bufio.NewReaderSize(io.NewSectionReader(c.index, start, info.Size()-start), maxIndexLine)
	whole = start == 0
	skip := !whole // the rest of a line
	for {
		text, err := in.ReadSlice('\n')
		if !skip && len(text) > 0 && !errors.Is(err, bufio.ErrBufferFull) {
			c.lines++
			whole = c.readLine(text, most) && whole
		}
		switch {
		case errors.Is(err, io.EOF):
			c.torn = len(text) > 0
			return whole, nil
		case errors.Is(err, bufio.ErrBufferFull):
			whole, skip = false, true
		case err != nil:
			return false, err
		default:
			skip = false
		}
	}
}

// readLine takes one line and reports whether it is one of ours.
func (c *cache) readLine(text []byte, most int) bool {
	var line cacheLine
	if json.Unmarshal(bytes.TrimSpace(text), &line) != nil || !sumForm.MatchString(line.SHA256) {
		return false
	}
	if _, known := c.sums[line.Key]; !known && len(c.sums) >= most {
		return false
	}
	c.remember(line)
	return true
}

func (c *cache) remember(line cacheLine) {
	c.sums[line.Key] = line.SHA256
	c.times[line.SHA256] = line.Time
	c.used[line.SHA256] = max(line.Used, c.used[line.SHA256])
}

// append adds lines to the index. The cache must be locked.
func (c *cache) append(lines []cacheLine) error {
	var out []byte
	if c.torn {
		out = append(out, '\n') // what stands there without an end must not take the next line with it
	}
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return fmt.Errorf("write the cache index: %w", err)
		}
		out = append(append(out, text...), '\n')
	}
	n, err := c.index.Write(out)
	c.torn = c.torn && n == 0 || n > 0 && n < len(out)
	if err != nil {
		return fmt.Errorf("write the cache index: %w", err)
	}
	c.lines += len(lines)
	return nil
}

// deadLines is how many lines of the index may be superseded before it is rewritten.
const deadLines = 10_000

// compact rewrites the index without the lines that no longer count, if bodies are gone or there are many such lines.
func (c *cache) compact(gone bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !gone && c.lines < len(c.sums)+deadLines {
		return nil
	}
	lines := 0
	if err := disk.Write(c.root, cacheIndex, func(w io.Writer) (err error) { lines, err = c.writeIndex(w); return err }); err != nil {
		return err
	}
	old := c.index
	if err := c.openIndexFile(); err != nil {
		return err
	}
	c.lines, c.torn = lines, false
	return errors.Join(c.index.Chmod(0o600), old.Close())
}

// writeIndex writes a line for each file whose body is here and forgets the others.
func (c *cache) writeIndex(w io.Writer) (lines int, err error) {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	for key, sum := range c.sums {
		if _, here := c.times[sum]; !here {
			delete(c.sums, key)
			continue
		}
		if err := enc.Encode(cacheLine{Key: key, SHA256: sum, Time: c.times[sum], Used: cmp.Or(c.used[sum], time.Now().Unix())}); err != nil {
			return lines, err
		}
		lines++
	}
	return lines, out.Flush()
}
