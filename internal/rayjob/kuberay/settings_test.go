package kuberay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"k8s.io/client-go/rest"
)

func TestADamagedConfigurationIsOneSentenceWithItsPath(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"a misspelt setting":              {"profile: []", `unknown field "profile"`},
		"a misspelt setting of a profile": {"profiles: [{name: a, gpus: 1}]", `unknown field "gpus"`},
		"a setting given twice":           {"image: a\nimage: b", `"image" already set`},
		"a list in the place of a map":    {"head: [1]", "cannot unmarshal array"},
		"a text in the place of a number": {"profiles: [{name: a, gpu: many}]", "cannot unmarshal string"},
		"a number that is no quantity":    {"scratch: 5GB!", "quantities must match"},
		"no YAML at all":                  {"\tx", "yaml"},
		"a field that only the program sets": {
			"Owner: somebody-else", `unknown field "Owner"`,
		},
		"a tolerations entry that is a text": {"profiles: [{name: a, tolerations: [gpu]}]", "cannot unmarshal string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "kuberay.yaml")
			require.NoError(t, os.WriteFile(path, []byte(tc.text), 0o600))
			_, err := ReadConfig(path)
			require.ErrorContains(t, err, tc.want)
			require.True(t, strings.HasPrefix(err.Error(), path+": "), "%v", err)
			require.NotContains(t, err.Error(), "\n")
			require.LessOrEqual(t, len(err.Error()), len(path)+2+4*300)
		})
	}
}

func TestAnEmptyConfigurationReportsAllThatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := New(Config{}, &Access{Config: &rest.Config{}}, zap.NewNop())
	for _, want := range []string{"KUBERAY_CONFIG: ", "namespace:", "profiles: at least one profile is required", "RAY_SHARED_DIR"} {
		require.ErrorContains(t, err, want)
	}
	c := example()
	c.Namespace = ""
	client, err := New(c, &Access{Config: &rest.Config{}, Namespace: "of-the-credentials"}, zap.NewNop())
	require.NoError(t, err)
	require.Equal(t, "of-the-credentials", client.cfg.Namespace)
}

func TestDefaultsChangeNothingThatIsSet(t *testing.T) {
	t.Parallel()
	c := example()
	once := c.withDefaults()
	require.Equal(t, once, once.withDefaults())
	require.Zero(t, c.Profiles[1].Workers, "the configuration of the caller stays as it was")
	require.Equal(t, 1, once.Profiles[1].Workers)
	require.Equal(t, 4, once.Profiles[0].MaxWorkers)
	require.Zero(t, once.Profiles[2].MaxWorkers, "a standing cluster has no limit of its own")
	require.Empty(t, once.Profiles[0].GPUResource)
}

func TestOnlyAnOlderRayLacksTokens(t *testing.T) {
	t.Parallel()
	for version, ok := range map[string]bool{
		"2.52.0": true, "2.52.1": true, "2.100.0": true, "3.0.0": true, "10.0.0": true, "2.51.9": false, "2.9.99": false, "1.99.0": false,
		"2.52": false, "v2.60.0": false, "2.60.0rc1": false, "": false,
	} {
		c := example()
		c.RayVersion = version
		err := c.withDefaults().validate()
		if ok {
			require.NoError(t, err, version)
		} else {
			require.ErrorContains(t, err, "rayVersion:", version)
		}
	}
	c := example()
	c.RayVersion, c.Image, c.Claim, c.Profiles = "", "", "", c.Profiles[2:]
	require.NoError(t, c.withDefaults().validate(), "with standing clusters only, no image is needed")
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: c, user: u, namespace: research}}]
clusters: [{name: c, cluster: {server: "https://k8s.example.org:6443"}}]
users: [{name: u, user: {token: canary-token}}]
`

func TestCredentialsComeFromTheNamedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, []byte(kubeconfig), 0o600))
	access, err := Credentials(path)
	require.NoError(t, err)
	require.Equal(t, "https://k8s.example.org:6443", access.Config.Host)
	require.Equal(t, "research", access.Namespace)
	require.False(t, access.Inside)
	for name, text := range map[string]string{
		"an empty file":            "",
		"no YAML":                  "\tx: canary-token",
		"a context that is absent": strings.Replace(kubeconfig, "current-context: here", "current-context: there", 1),
		"a cluster that is absent": strings.Replace(kubeconfig, "cluster: c,", "cluster: d,", 1),
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Credentials(path)
		require.ErrorContains(t, err, "KUBECONFIG: no access to a Kubernetes cluster", name)
		require.NotContains(t, err.Error(), "canary-token", name)
	}
	_, err = Credentials(path + "-absent")
	require.ErrorContains(t, err, "KUBECONFIG")
}

func TestWindowsAroundAChangeOfTheClock(t *testing.T) {
	t.Parallel()
	night := Window{From: "02:30", Until: "05:00", Zone: "Europe/Berlin"}
	for _, tc := range []struct {
		name, now string
		closed    bool
	}{
		{"the evening before summer time", "2026-03-28T22:00:00Z", true},
		{"after the hour that does not exist", "2026-03-29T01:45:00Z", false},
		{"the end of the window in summer time", "2026-03-29T03:00:00Z", true},
		{"the second half past two in autumn", "2026-10-25T01:40:00Z", false},
	} {
		now := parse(t, tc.now)
		wait := night.opens(now)
		require.Equal(t, tc.closed, wait > 0, tc.name)
		require.Zero(t, night.opens(now.Add(wait)), "%s: it is open when the wait is over", tc.name)
	}
}

func parse(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}
