package answer

import (
	"cmp"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/sidecar"
)

// LocalConfig describes an answer process on this machine.
type LocalConfig struct {
	// Python is an interpreter that has onnxruntime, tokenizers, scikit-learn and pillow.
	Python string
	// Trainer returns the folder to put on PYTHONPATH. It is asked before each start.
	Trainer func() (string, error)
	// Registry is the folder of the registry.
	Registry string
	// Sleep is the time without questions after which the process ends (default 15 min), Memory the bytes for models (default 256 MB).
	Sleep  time.Duration
	Memory int64
	Log    *zap.Logger
}

const (
	defaultSleep  = 15 * time.Minute
	defaultMemory = 256 << 20
)

// NewLocal returns a process that is started at the first question; nobody answers if the interpreter does not exist.
func NewLocal(cfg LocalConfig) sidecar.Process {
	sleep, memory := cmp.Or(cfg.Sleep, defaultSleep), cmp.Or(cfg.Memory, defaultMemory)
	return sidecar.NewLocal(sidecar.LocalConfig{
		Name: "the answer process", Python: cfg.Python, Trainer: cfg.Trainer, TokenVariable: "ANSWER_TOKEN", Log: cfg.Log,
		Arguments: []string{
			"answer", "--registry", cfg.Registry, "--with-parent",
			"--sleep", strconv.FormatFloat(sleep.Seconds(), 'f', -1, 64), "--memory", strconv.FormatInt(max(1, memory>>20), 10),
		},
	})
}
