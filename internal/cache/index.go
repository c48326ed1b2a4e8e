package cache

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
	indexName = "index.jsonl"
	// maxIndexLine is the length in bytes of the longest line that is read. The cache writes lines of about 250 bytes.
	maxIndexLine = 16 << 10
	// maxIndexBytes is how much is read from the end of an index, and maxIndexFiles how many files are taken from it. The files of
	// the other lines are downloaded again.
	maxIndexBytes = 64 << 20
	maxIndexFiles = 250_000
	// indexTries is how often the index is opened if something else is in its place.
	indexTries = 3
)

// Entry is one line of the index. Of two lines with the same key the later one counts. A line is written once its body is on disk.
type Entry struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
	Time   int64  `json:"mtime_ns"`
	// Used is when a run last used the body, in seconds since 1970. Indexes of older versions lack it.
	Used int64 `json:"used,omitempty"`
}

// openIndex opens the index and reads all valid lines. It returns no error for a damaged index, so that the service starts. An
// index with other lines is rewritten.
func (c *Cache) openIndex() error {
	err := c.openIndexFile()
	for try := 1; errors.Is(err, disk.ErrNotAllowed) && try < indexTries; try++ {
		c.log.Warn("the index of the download cache is not a file: replacing it", zap.Error(err))
		if err = c.root.RemoveAll(indexName); err == nil {
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
		c.log.Warn("the index of the download cache is damaged or too large: files that it no longer names are downloaded again")
		if err := c.compact(true); err != nil {
			c.log.Warn("cannot rewrite the index of the download cache", zap.Error(err)) // lines that are appended to it count
		}
	}
	return nil
}

// openIndexFile opens a regular file for reading and appending. If something else is there, the error wraps disk.ErrNotAllowed.
func (c *Cache) openIndexFile() error {
	seen, err := c.root.Lstat(indexName)
	if err == nil && !seen.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file: %w", indexName, disk.ErrNotAllowed)
	}
	f, err := c.root.OpenFile(indexName, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	seen, err = c.root.Lstat(indexName)
	opened, statErr := f.Stat()
	if err = errors.Join(err, statErr); err == nil && (!opened.Mode().IsRegular() || !os.SameFile(seen, opened)) {
		err = fmt.Errorf("%s was replaced while it was opened: %w", indexName, disk.ErrNotAllowed)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	c.index = f
	return nil
}

// readIndex reads the lines of at most most files, and reports whether the index holds nothing else.
func (c *Cache) readIndex(most int) (whole bool, err error) {
	info, err := c.index.Stat()
	if err != nil {
		return false, err
	}
	start := max(0, info.Size()-maxIndexBytes)
	in := bufio.NewReaderSize(io.NewSectionReader(c.index, start, info.Size()-start), maxIndexLine)
	whole = start == 0
	skip := !whole // skip the rest of a line
	for {
		line, err := in.ReadSlice('\n')
		if !skip && len(line) > 0 && !errors.Is(err, bufio.ErrBufferFull) {
			c.lines++
			whole = c.readLine(line, most) && whole
		}
		switch {
		case errors.Is(err, io.EOF):
			c.torn = len(line) > 0
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

// readLine reads one line and reports whether it is a valid one.
func (c *Cache) readLine(line []byte, most int) bool {
	var entry Entry
	if json.Unmarshal(bytes.TrimSpace(line), &entry) != nil || !sumForm.MatchString(entry.SHA256) {
		return false
	}
	if _, known := c.sums[entry.Key]; !known && len(c.sums) >= most {
		return false
	}
	c.remember(entry)
	return true
}

func (c *Cache) remember(entry Entry) {
	c.sums[entry.Key] = entry.SHA256
	c.times[entry.SHA256] = entry.Time
	c.used[entry.SHA256] = max(entry.Used, c.used[entry.SHA256])
}

// append adds lines to the index. The caller holds the lock.
func (c *Cache) append(entries []Entry) error {
	var out []byte
	if c.torn {
		out = append(out, '\n') // otherwise the torn line would damage the next one
	}
	for _, entry := range entries {
		line, err := json.Marshal(entry)
		if err != nil {
			return fmt.Errorf("write the cache index: %w", err)
		}
		out = append(append(out, line...), '\n')
	}
	n, err := c.index.Write(out)
	c.torn = c.torn && n == 0 || n > 0 && n < len(out)
	if err != nil {
		return fmt.Errorf("write the cache index: %w", err)
	}
	c.lines += len(entries)
	return nil
}

// maxSuperseded is how many lines of the index may be superseded before it is rewritten.
const maxSuperseded = 10_000

// compact rewrites the index without superseded lines, if bodies were removed or there are many such lines.
func (c *Cache) compact(gone bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !gone && c.lines < len(c.sums)+maxSuperseded {
		return nil
	}
	lines := 0
	if err := disk.Write(c.root, indexName, func(w io.Writer) (err error) { lines, err = c.writeIndex(w); return err }); err != nil {
		return err
	}
	old := c.index
	if err := c.openIndexFile(); err != nil {
		return err
	}
	c.lines, c.torn = lines, false
	return errors.Join(c.index.Chmod(0o600), old.Close())
}

// writeIndex writes one line for each file whose body is in the cache, and forgets the other files. A body that is not known to be on disk gets its
// line from Commit.
func (c *Cache) writeIndex(w io.Writer) (lines int, err error) {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	for key, sum := range c.sums {
		if _, here := c.times[sum]; !here {
			delete(c.sums, key)
			continue
		}
		if _, fresh := c.fresh[sum]; fresh {
			continue
		}
		if err := enc.Encode(Entry{Key: key, SHA256: sum, Time: c.times[sum], Used: cmp.Or(c.used[sum], time.Now().Unix())}); err != nil {
			return lines, err
		}
		lines++
	}
	return lines, out.Flush()
}
