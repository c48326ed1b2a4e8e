package kuberay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// example is a configuration that works.
func example() Config {
	return Config{
		Namespace: "research", Image: "clowder-ray/ray:1", RayVersion: "2.60.0", Claim: "shared", Mount: "/shared",
		Profiles: []Profile{
			{Name: "small", Workers: 2, MaxWorkers: 4, Machine: Machine{CPU: resource.MustParse("1500m"), Memory: resource.MustParse("4Gi")}},
			{Name: "gpu", Machine: Machine{GPU: 2, NodeSelector: map[string]string{"disk": "ssd"}}, Queue: "q", PriorityClass: "low"},
			{Name: "standing", Cluster: "standing"},
		},
	}
}

func TestReadConfig(t *testing.T) {
	t.Parallel()
	read := func(text string) (Config, error) {
		path := filepath.Join(t.TempDir(), "kuberay.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return ReadConfig(path)
	}
	c, err := read(`
namespace: research
image: ray:1
rayVersion: 2.60.0
claim: shared
scratch: 5Gi
head: {cpu: 2, memory: 6Gi}
profiles:
- {name: small, cpu: 500m, memory: 2Gi, workers: 2}
- name: gpu
  gpu: 1
  nodeSelector: {Kind.of/Node: A100}
  tolerations: [{key: dedicated, operator: Exists}]
  minWorkers: 0
  window: {from: "20:00", until: "06:00", zone: Europe/Berlin}
`)
	require.NoError(t, err)
	require.Equal(t, []string{"small", "gpu"}, c.Names())
	require.Equal(t, "A100", c.Profiles[1].NodeSelector["Kind.of/Node"], "keys keep their case")
	c.Mount = "/shared"
	c = c.withDefaults()
	require.NoError(t, c.validate())
	require.Equal(t, "1Gi", c.SharedMemory.String())
	require.Equal(t, 1, c.Profiles[1].MaxWorkers)
	require.Equal(t, gpuResource, c.Profiles[1].GPUResource)
	require.EqualValues(t, rayUser, *c.User)

	for text, want := range map[string]string{
		"imagee: x":                      `unknown field "imagee"`,
		"head: {memory: much}":           "quantities",
		"profiles: [{name: a, gpu: yes}": "yaml",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
	_, err = ReadConfig(filepath.Join(t.TempDir(), "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestConfigFaults(t *testing.T) {
	t.Parallel()
	fewer := 3
	for want, change := range map[string]func(*Config){
		"namespace:":                 func(c *Config) { c.Namespace = "A b" },
		"image:":                     func(c *Config) { c.Image = "" },
		"claim:":                     func(c *Config) { c.Claim = "" },
		"must be the version of Ray": func(c *Config) { c.RayVersion = "nightly" },
		"no token authentication":    func(c *Config) { c.RayVersion = "2.9.3" },
		"profiles: at least one":     func(c *Config) { c.Profiles = nil },
		"profiles[1].name: \"small\" is used twice": func(c *Config) { c.Profiles[1].Name = "small" },
		"profiles[0].name: \"\"":                    func(c *Config) { c.Profiles[0].Name = "" },
		"profiles[0]: numbers":                      func(c *Config) { c.Profiles[0].GPU = -1 },
		"profiles[0].minWorkers: must be between":   func(c *Config) { c.Profiles[0].MinWorkers = &fewer },
		"profiles[1].minWorkers: Kueue":             func(c *Config) { c.Profiles[1].MinWorkers = new(int) },
		"profiles[2].maxWorkers: set it":            func(c *Config) { c.Profiles[2].MinWorkers = new(int) },
		"profiles[0].idleSeconds: must not":         func(c *Config) { c.Profiles[0].IdleSeconds = -1 },
		"profiles[2].queue: Kueue":                  func(c *Config) { c.Profiles[2].Queue = "q" },
		"profiles[2].cluster:":                      func(c *Config) { c.Profiles[2].Cluster = strings.Repeat("a", 60) },
		"does not fit into the head's memory":       func(c *Config) { c.SharedMemory = resource.MustParse("8Gi") },
		"fit into the memory of profile small":      func(c *Config) { c.Profiles[0].Memory = resource.MustParse("1Gi") },
		"user: 0 is not allowed":                    func(c *Config) { c.User = new(int64) },
		"user: -1 is not allowed":                   func(c *Config) { c.User = new(int64(-1)) },
		"user: 1000 is the uid of the service":      func(c *Config) { c.User, c.ServiceUser = new(int64(1000)), 1000 },
		"RAY_SHARED_DIR":                            func(c *Config) { c.Mount = "shared" },
		"profiles[0].window: \"8pm\" is no":         func(c *Config) { c.Profiles[0].Window = &Window{From: "8pm", Until: "06:00"} },
		"profiles[0].window: from and until":        func(c *Config) { c.Profiles[0].Window = &Window{From: "06:00", Until: "06:00"} },
		"profiles[0].window: zone: \"Nowhere\"":     func(c *Config) { c.Profiles[0].Window = &Window{From: "05:00", Until: "06:00", Zone: "Nowhere"} },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			c := example()
			change(&c)
			require.ErrorContains(t, c.withDefaults().validate(), want)
		})
	}
}

func TestProfileForAnAttempt(t *testing.T) {
	t.Parallel()
	c := &Client{cfg: example().withDefaults()}
	for name, tc := range map[string]struct {
		asked rayjob.Resources
		want  string
		fault string
	}{
		"nothing asked":             {asked: rayjob.Resources{}, want: "small"},
		"by name":                   {asked: rayjob.Resources{Profile: "gpu"}, want: "gpu"},
		"a GPU":                     {asked: rayjob.Resources{GPU: true}, want: "gpu"},
		"a GPU on what stands":      {asked: rayjob.Resources{GPU: true, Profile: "standing"}, want: "standing"},
		"many on what stands":       {asked: rayjob.Resources{Workers: 9, Profile: "standing"}, want: "standing"},
		"as many as allowed":        {asked: rayjob.Resources{Workers: 4}, want: "small"},
		"too many workers":          {asked: rayjob.Resources{Workers: 5}, fault: "5 workers exceed the limit of 4 of the profile small"},
		"no such profile":           {asked: rayjob.Resources{Profile: "huge"}, fault: `the profile "huge" does not exist: choose one of small, gpu, standing`},
		"a GPU where there is none": {asked: rayjob.Resources{GPU: true, Profile: "small"}, fault: "the profile small has no GPU"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.profile(tc.asked)
			if tc.fault != "" {
				require.ErrorContains(t, err, tc.fault)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, p.Name)
		})
	}
	few := &Client{cfg: c.cfg}
	few.cfg.Profiles = c.cfg.Profiles[:1]
	_, err := few.profile(rayjob.Resources{GPU: true})
	require.ErrorContains(t, err, "no profile of this extractor has a GPU")
}

func TestWindow(t *testing.T) {
	t.Parallel()
	night, day := Window{From: "20:00", Until: "06:00", Zone: "Europe/Berlin"}, Window{From: "09:30", Until: "17:00"}
	for _, tc := range []struct {
		window Window
		now    string
		want   time.Duration
	}{
		{night, "2026-01-10T20:00:00+01:00", 0},
		{night, "2026-01-10T23:59:00Z", 0},
		{night, "2026-01-11T05:59:00+01:00", 0},
		{night, "2026-01-11T06:00:00+01:00", 14 * time.Hour},
		{night, "2026-01-11T12:00:00Z", 7 * time.Hour},
		{night, "2026-03-28T19:00:00Z", 0}, // the night in which summer begins
		{day, "2026-01-11T09:00:00Z", 30 * time.Minute},
		{day, "2026-01-11T12:00:00Z", 0},
		{day, "2026-01-11T17:00:00Z", 16*time.Hour + 30*time.Minute},
	} {
		now, err := time.Parse(time.RFC3339, tc.now)
		require.NoError(t, err)
		require.Equal(t, tc.want, tc.window.opens(now), "%s at %s", tc.window.From, tc.now)
	}
}
