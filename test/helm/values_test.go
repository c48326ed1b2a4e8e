//go:build integration

package helm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestBadValuesAreRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ set, want string }{
		"a misspelt key":            {"shared.claim=x", "additional properties 'claim' not allowed"},
		"a misspelt key at the top": {"clowderURL=https://x", "additional properties 'clowderURL' not allowed"},
		"a misspelt setting":        {"settings.MAX_JOB=1", "additional properties 'MAX_JOB' not allowed"},
		"a setting of the chart":    {"settings.STATE_DIR=/x", "additional properties 'STATE_DIR' not allowed"},
		"a password as a setting":   {"settings.RABBITMQ_URI=amqp://x", "additional properties 'RABBITMQ_URI' not allowed"},
		"a text for a number":       {"settings.MAX_JOBS=many", "at '/settings/MAX_JOBS': got string, want integer"},
		"a number for a text":       {"image.tag=1", "at '/image/tag': got number, want string"},
		"less than nothing":         {"settings.MAX_RUNNING=-1", "at '/settings/MAX_RUNNING': minimum"},
		"a text for a switch":       {"rbac.nodes=ja", "at '/rbac/nodes': got string, want boolean"},
		"no address":                {"clowderUrl=clowder", "at '/clowderUrl': 'clowder' does not match"},
		"no broker":                 {"secret.existing=,secret.values.RABBITMQ_URI=http://x", "at '/secret/values/RABBITMQ_URI'"},
		"no size":                   {"state.size=1Gb", "at '/state/size': '1Gb' does not match"},
		"no duration":               {"settings.HEARTBEAT=soon", "at '/settings/HEARTBEAT': 'soon' does not match"},
		"no port":                   {"networkPolicy.dns.ports={70000}", "at '/networkPolicy/dns/ports/0': maximum"},
		"a profile without a name":  {"ray.profiles[0].cpu=1", "missing property 'name'"},
		"a misspelt profile":        {"ray.profiles[0].name=a,ray.profiles[0].gpus=1", "additional properties 'gpus' not allowed"},
		"no list of profiles":       {"ray.profiles=none", "at '/ray/profiles': got string, want array"},
		"a time of no day":          {"ray.profiles[0].name=a,ray.profiles[0].window.from=25:00,ray.profiles[0].window.until=06:00", "'25:00' does not match"},
		"no address at all":         {"clowderUrl=", "clowderUrl is empty: set it to the address"},
		"no secret":                 {"secret.existing=", "secret: set either existing"},
		"two secrets":               {"secret.values.RABBITMQ_URI=amqp://x", "secret: set either existing"},
		"a secret without a broker": {"secret.existing=,secret.values.EXTRACTOR_KEY=x", "secret.values.RABBITMQ_URI is missing"},
		"no shared volume":          {"shared.existingClaim=", "shared: set exactly one of existingClaim, storageClass"},
		"two shared volumes":        {"shared.storageClass=x", "shared: set exactly one of existingClaim, storageClass"},
		"a certificate of nowhere":  {"ca.clowder=ca.crt", "ca.configMap is empty"},
		"a model without an owner":  {"models.install[0].name=bert-tiny", "at '/models/install/0/name': 'bert-tiny' does not match"},
		"a model without a name":    {"models.install[0].revision=main", "missing property 'name'"},
		"a flag as a revision":      {"models.install[0].name=a/b,models.install[0].revision=main --x", "at '/models/install/0/revision'"},
		"a mirror of no address":    {"models.endpoint=mirror", "at '/models/endpoint': 'mirror' does not match"},
		"pods that are root":        {"ray.user=0", "at '/ray/user': minimum"},
		"pods as the service":       {"ray.user=1000", "at '/ray/user': 'not' failed"},
		"a RuntimeClass of no name": {"runtimeClass.create=true", "ray.runtimeClass and ray.script.runtimeClass are empty"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := template(t, append(least, "--set", tc.set)...)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestAllThatIsMissingIsToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := template(t)
	for _, want := range []string{"clowderUrl", "secret", "shared"} {
		require.ErrorContains(t, err, "- "+want)
	}
}

// TestEverySettingHasAPlace: each variable in the table of docs/configuration.md is in the schema, or is the chart's own business.
func TestEverySettingHasAPlace(t *testing.T) {
	t.Parallel()
	elsewhere := []string{
		"CLOWDER_URL", "RABBITMQ_CA", "CLOWDER_CA", "SHUTDOWN_TIMEOUT", // values of their own
		"STUDIO_URL", "STUDIO_LISTEN", "STUDIO_LOGIN", "CLOWDER_PUBLIC_URL", "OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET_FILE", // studio.*; its client is public
		"PREDICTOR_URL", "PREDICTOR_TOKEN_FILE", "TENSORBOARD", "TENSORBOARD_URL", "TENSORBOARD_TOKEN_FILE", // predictor.*
		"RABBITMQ_URI", "EXTRACTOR_KEY", "STATE_KEY", "STATE_KEY_FILE", // secret
		"KUBERAY_CONFIG", "KUBERAY_INSTANCE", "KUBECONFIG", "LISTEN", "SHARED_DIR", "RAY_SHARED_DIR", "STATE_DIR", "EXTRACTOR_INFO", // what the pod is and where it has its files
		"RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", // of a Ray without KubeRay
	}
	table, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| `[a-z_]+` \\|").FindAllSubmatch(table, -1)
	require.NotEmpty(t, rows)
	known := properties(t, "properties", "settings")
	var missing []string
	for _, row := range rows {
		if name := string(row[1]); !slices.Contains(elsewhere, name) && !slices.Contains(known, name) {
			missing = append(missing, name)
		}
	}
	require.Empty(t, missing, "add them to settings in deploy/helm/clowder-ray/values.schema.json, or to elsewhere here")
}

// properties are the keys that the schema allows in one of its objects.
func properties(t *testing.T, path ...string) []string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(chartDir, "values.schema.json"))
	require.NoError(t, err)
	var node map[string]any
	require.NoError(t, json.Unmarshal(doc, &node))
	for _, key := range append(path, "properties") {
		require.Contains(t, node, key)
		node = node[key].(map[string]any)
	}
	keys := make([]string, 0, len(node))
	for key := range node {
		keys = append(keys, key)
	}
	return keys
}

func TestSettingsAreWrittenAsTheServiceReadsThem(t *testing.T) {
	t.Parallel()
	data := find[*corev1.ConfigMap](t, render(t, "--values", "testdata/everything.yaml"), fullName).Data
	require.Equal(t, map[string]string{
		"CLOWDER_URL":      "http://clowder.clowder.svc:8000/base",
		"CLOWDER_HOSTS":    "https://clowder.example.org,https://data.example.org",
		"MAX_BYTES":        "53687091200", // and not 5.36870912e+10
		"HEARTBEAT":        "30s",
		"LOG_LEVEL":        "debug",
		"LOG_FORMAT":       "json",
		"RABBITMQ_CA":      "/etc/clowder-ray-ca/ca.crt",
		"CLOWDER_CA":       "/etc/clowder-ray-ca/clowder.crt",
		"KUBERAY_CONFIG":   "/etc/clowder-ray/kuberay.yaml",
		"KUBERAY_INSTANCE": fullName,
		"LISTEN":           ":8780",
		"SHARED_DIR":       "/shared",
		"STATE_DIR":        "/state",
		"SHUTDOWN_TIMEOUT": "45s",

		"STUDIO_URL":              "https://studio.example.org/ray",
		"STUDIO_LISTEN":           ":8781",
		"STUDIO_LOGIN":            "oidc,key",
		"CLOWDER_PUBLIC_URL":      "https://clowder.example.org",
		"OIDC_ISSUER":             "https://clowder.example.org:8443/keycloak/realms/clowder",
		"OIDC_CLIENT_ID":          "clowder-ray",
		"OIDC_CLIENT_SECRET_FILE": "/etc/clowder-ray-oidc/secret",
	}, data)
}
