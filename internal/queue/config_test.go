package queue

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestConfigNamesEveryFaultAndNoPassword(t *testing.T) {
	t.Parallel()
	noCert := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(noCert, []byte("no certificate"), 0o600))
	for name, tc := range map[string]struct {
		cfg  Config
		want []string
	}{
		"the default of the settings": {cfg: Config{URI: "amqp://guest:guest@127.0.0.1/%2f", Queue: "q"}},
		"no path":                     {cfg: Config{URI: "amqp://u:s3cret@host", Queue: "q"}},
		"TLS":                         {cfg: Config{URI: "amqps://u:s3cret@host/v", Queue: "q"}},
		"no address":                  {cfg: Config{}, want: []string{SettingURI}},
		"an address that breaks in the password": {
			cfg: Config{URI: "amqp://u:s3cret/more@host:port/"}, want: []string{SettingURI, "%XX"},
		},
		"another protocol": {cfg: Config{URI: "http://u:s3cret@host"}, want: []string{SettingURI}},
		"TLS settings without TLS": {
			cfg: Config{URI: "amqp://u:s3cret@host", CAFile: noCert}, want: []string{SettingCA, "amqps://"},
		},
		"a file without certificates": {
			cfg: Config{URI: "amqps://u:s3cret@host", CAFile: noCert}, want: []string{"holds no certificate"},
		},
		"everything wrong at once": {
			cfg: Config{
				URI: "amqps://u:s3cret@host", Queue: "amq.mine", CAFile: "not-there.pem", MaxPrefetch: -1, Heartbeat: time.Millisecond,
				BackoffMin: time.Minute, DialTimeout: -1,
			},
			want: []string{SettingQueue, SettingCA, "prefetch", "heartbeat", "back-off", "dial timeout"},
		},
		"a queue name that is too long": {
			cfg: Config{URI: "amqp://host", Queue: strings.Repeat("q", 250)}, want: []string{SettingQueue, "249"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.cfg.Validate()
			if len(tc.want) == 0 {
				require.NoError(t, err)
				require.NotContains(t, tc.cfg.redacted(), "s3cret")
				return
			}
			require.Error(t, err)
			for _, text := range tc.want {
				require.Contains(t, err.Error(), text)
			}
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
}

func TestTheRedactedAddressHasNoPassword(t *testing.T) {
	t.Parallel()
	for uri, want := range map[job.Secret]string{
		"amqp://guest:s3cret@127.0.0.1/%2f":            "amqp://guest:xxxxx@127.0.0.1:5672/%2F",
		"amqp://u:s3cret@host:1234":                    "amqp://u:xxxxx@host:1234/%2F",
		"amqps://u%40x:s3cret@[::1]/a%2Fb?heartbeat=3": "amqps://u%40x:xxxxx@[::1]:5671/a%2Fb",
		"amqp://u:s3cret@host:port/":                   "the broker",
	} {
		require.Equal(t, want, Config{URI: uri}.redacted())
	}
}

func TestAConsumerNeedsAQueue(t *testing.T) {
	t.Parallel()
	m := NewMetrics(prometheus.NewRegistry())
	_, err := NewConsumer(Config{URI: "amqp://host"}, nil, nil, zap.NewNop(), m)
	require.ErrorContains(t, err, SettingQueue)
	_, err = NewPublisher(Config{URI: "amqp://host"}, Announcement{}, zap.NewNop(), m)
	require.NoError(t, err)
}

func TestTheClientGetsAFreshConfigurationWithoutRecovery(t *testing.T) {
	t.Parallel()
	cfg := Config{URI: "amqp://guest:guest@localhost", ConnectionName: "pod"}.withDefaults()
	one, err := cfg.client()
	require.NoError(t, err)
	require.Nil(t, one.Recovery, "see TestALateAckTouchesNoOtherMessage")
	require.Equal(t, 10*time.Second, one.Heartbeat)
	require.Equal(t, "pod", one.Properties["connection_name"])
	one.Properties["capabilities"] = "written by the client"
	two, err := cfg.client()
	require.NoError(t, err)
	require.NotContains(t, two.Properties, "capabilities")
}

func TestOnlyErrorsThatLastEndTheStart(t *testing.T) {
	t.Parallel()
	server := func(code int, reason string) error { return &amqp.Error{Code: code, Reason: reason, Server: true} }
	for name, tc := range map[string]struct {
		err       error
		connected bool
		fault     bool
	}{
		"a refused login":                             {err: server(403, "ACCESS_REFUSED"), fault: true},
		"a refused login later":                       {err: server(403, "ACCESS_REFUSED"), connected: true, fault: true},
		"no such virtual host":                        {err: server(530, "NOT_ALLOWED - vhost x not found"), fault: true},
		"a virtual host that went away":               {err: server(530, "NOT_ALLOWED - vhost x not found"), connected: true},
		"enough connections":                          {err: server(530, "NOT_ALLOWED - connection limit (1) is reached")},
		"a virtual host that is down":                 {err: server(541, "INTERNAL_ERROR - vhost '/' is down")},
		"an operator closes":                          {err: server(320, "CONNECTION_FORCED")},
		"a socket that closed while logging in":       {err: amqp.ErrCredentials},
		"a socket that closed while choosing a vhost": {err: amqp.ErrVhost},
		"the network":                                 {err: errors.New("connection refused")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Config{URI: "amqp://u:s3cret@host"}.dialError(tc.err, tc.connected)
			require.ErrorIs(t, err, tc.err)
			var fault *ConfigError
			require.Equal(t, tc.fault, errors.As(err, &fault))
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
}

func TestMetricsBeginAtZero(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	NewMetrics(reg)
	families, err := reg.Gather()
	require.NoError(t, err)
	require.Len(t, families, 14)
	for _, family := range families {
		require.Regexp(t, "^clowder_ray_queue_", family.GetName())
		require.NotEmpty(t, family.GetHelp())
		for _, m := range family.GetMetric() {
			require.Zero(t, m.GetCounter().GetValue()+m.GetGauge().GetValue())
		}
	}
}
