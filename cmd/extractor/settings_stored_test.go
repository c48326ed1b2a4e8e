package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/cmd/extractor/scripts"
	"github.com/ncsa/clowder-ray/cmd/extractor/studio"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestASettingsFileOfTheVersionBeforeIsRead(t *testing.T) {
	t.Parallel()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	addFlags(fs)
	require.NoError(t, fs.Parse([]string{"--config", filepath.Join("..", "..", "test", "stored", "settings.yaml")}))
	got, err := readSettings(fs, nil)
	require.NoError(t, err)
	defaults, err := readEnv()
	require.NoError(t, err)
	require.Equal(t, defaults.Scripts, got.Scripts, "there were none about scripts")
	got.Scripts = scripts.Settings{}
	require.Equal(t, defaults.Studio, got.Studio, "there was none")
	got.Studio = studio.Settings{}
	const day = 24 * time.Hour
	require.Equal(t, Settings{
		RabbitMQURI: "amqp://user:word@broker/vhost", RabbitMQQueue: "own.train", AdvancedQueue: "own.advanced", PredictQueue: "own.predict",
		RunsQueue: "own.runs", RabbitMQExchange: "clowder", ClowderURL: "https://clowder.example.org",
		ClowderHosts:   []string{"https://clowder.example.org", "https://other.example.org"},
		ClowderVersion: 2, ClowderEmail: "operator@example.org", ExtractorKey: "a-key", Heartbeat: 45 * time.Second,
		MaxRetry: 7, MaxAttempts: 4, MaxJobs: 200, MaxJobsPerUser: 50, MaxRunning: 12, MaxRunningPerUser: 3, UserJobsPerHour: 20,
		UserRequestsPerHour: 300, MaxFiles: 500, MaxBytes: 1_000_000_000,
		PendingTimeout: 2 * time.Hour, StallTimeout: 20 * time.Minute, RecoverEvery: 5 * time.Minute,
		RayAddress: "http://ray-head:8265", RayToken: "a-token", RayPython: "/opt/python", RayPoll: 3 * time.Second, KubeRayInstance: "own", WarmWorkers: 4,
		SharedDir: "/tmp/shared", RaySharedDir: "/mnt/shared", StateDir: "/tmp/state", StateKey: job.Secret("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="),
		RetainRecords: 60 * day, RetainRuns: 20 * day, RetainKeys: 3 * day, CacheBytes: 5_000_000_000, MinFreeBytes: 1_000_000,
		Listen: ":8780", LogLevel: "debug", LogFormat: "json", ShutdownTimeout: 30 * time.Second,
	}, got)
}
