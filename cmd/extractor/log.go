package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/ncsa/clowder-ray/internal/job"
)

// newLogger returns a logger that writes to w in this format, from this level on.
func newLogger(w io.Writer, level, format string) (*zap.Logger, error) {
	l, err := zapcore.ParseLevel(level)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("LOG_LEVEL: %w", err))
	}
	cfg := zap.NewProductionEncoderConfig()
	cfg.EncodeTime = zapcore.RFC3339TimeEncoder
	cfg.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(cfg)
	if format == "console" {
		cfg.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(cfg)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), l)), nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// quietLevel raises the level info to warn, so that log messages do not disturb the progress bar. Other levels stay.
func quietLevel(level string) string {
	if level == zap.InfoLevel.String() {
		return zap.WarnLevel.String()
	}
	return level
}
