//go:build integration

package queue

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestConfigurationErrorsEndTheStart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		// spoil breaks the configuration or the broker.
		spoil   func(t *testing.T, f *fixture)
		setting string
		says    []string
		// publisher: only the publisher has this error.
		publisher bool
	}{
		"a wrong password": {
			spoil:   func(t *testing.T, f *fixture) { t.Helper(); f.replace("guest:guest", "guest:s3cret") },
			setting: SettingURI, says: []string{`refuses the user "guest"`, "password"},
		},
		"a virtual host that is not there": {
			spoil:   func(t *testing.T, f *fixture) { t.Helper(); f.cfg.URI += "-not-there" },
			setting: SettingURI, says: []string{"-not-there", "virtual host", "not found"},
		},
		"a virtual host without permission": {
			spoil: func(t *testing.T, f *fixture) {
				t.Helper()
				f.user("stranger", "")
				f.replace("guest:guest", "stranger:s3cret")
			},
			setting: SettingURI, says: []string{"stranger", "permissions"},
		},
		"a user without permission to create the queue": {
			spoil: func(t *testing.T, f *fixture) {
				t.Helper()
				f.user("reader", `<<"^$">>, <<".*">>, <<".*">>`)
				f.replace("guest:guest", "reader:s3cret")
			},
			setting: SettingURI, says: []string{"is missing", "configure permission"},
		},
		"a user without permission to read the queue": {
			spoil: func(t *testing.T, f *fixture) {
				t.Helper()
				f.user("writer", `<<".*">>, <<".*">>, <<"^$">>`)
				f.replace("guest:guest", "writer:s3cret")
			},
			setting: SettingURI, says: []string{"read permissions"},
		},
		"a queue that is not durable": {
			spoil: func(t *testing.T, f *fixture) {
				t.Helper()
				_, err := f.channel().QueueDeclare(f.cfg.Queue, false, false, false, false, nil)
				require.NoError(t, err)
			},
			setting: SettingQueue, says: []string{"a durable queue", "received 'true' but current is 'false'"},
		},
		"a queue of another connection": {
			spoil: func(t *testing.T, f *fixture) {
				t.Helper()
				_, err := f.channel().QueueDeclare(f.cfg.Queue, true, false, true, false, nil)
				require.NoError(t, err)
			},
			setting: SettingQueue, says: []string{"is exclusive to another connection"},
		},
		"an exchange of another type": {
			spoil: func(t *testing.T, f *fixture) {
				t.Helper()
				require.NoError(t, f.channel().ExchangeDeclare("extractors", "direct", true, false, false, false, nil))
			},
			setting: SettingURI, says: []string{"a durable fanout exchange", "current is 'direct'"}, publisher: true,
		},
		"TLS on a port without it": {
			spoil:   func(t *testing.T, f *fixture) { t.Helper(); f.replace("amqp:", "amqps:") },
			setting: SettingURI, says: []string{"does not speak TLS"},
		},
		"a certificate that is not trusted": {
			spoil:   func(t *testing.T, f *fixture) { t.Helper(); f.encrypted() },
			setting: SettingCA, says: []string{"is not trusted"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			tc.spoil(t, f)
			ctx, cancel := context.WithTimeout(t.Context(), noticed)
			defer cancel()
			var err error
			if tc.publisher {
				p, e := NewPublisher(f.cfg, Announcement{Exchange: "extractors", Every: time.Hour, Body: func() []byte { return nil }}, f.log, f.metrics)
				require.NoError(t, e)
				err = p.Run(ctx)
			} else {
				c, e := NewConsumer(f.cfg, fixedSlots(8), newInbox().handle, f.log, f.metrics)
				require.NoError(t, e)
				err = c.Run(ctx)
			}
			var fault *ConfigError
			require.ErrorAs(t, err, &fault)
			require.Equal(t, tc.setting, fault.Setting)
			for _, text := range tc.says {
				require.Contains(t, err.Error(), text)
			}
			require.NotContains(t, err.Error(), "\n")
			require.NotContains(t, err.Error(), "s3cret")
			require.LessOrEqual(t, f.counter("session_errors_total"), 2.0, "no burst of tries")
		})
	}
}

func TestAPasswordThatIsChangedIsAConfigurationError(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.user("rotated", `<<".*">>, <<".*">>, <<".*">>`)
	f.replace("guest:guest", "rotated:s3cret")
	proxy := f.proxied()
	u := strings.Replace(string(f.cfg.URI), "guest:guest", "rotated:s3cret", 1)
	f.cfg.URI = job.Secret(u)
	c, err := NewConsumer(f.cfg, fixedSlots(8), newInbox().handle, f.log, f.metrics)
	require.NoError(t, err)
	result := make(chan error, 1)
	go func() { result <- c.Run(context.WithoutCancel(t.Context())) }()
	require.Eventually(t, c.Ready, soon, time.Millisecond)
	f.broker.MustEval(t, `rabbit_auth_backend_internal:change_password(<<"rotated">>, <<"other">>, <<"test">>).`)
	cut(t, proxy)
	var fault *ConfigError
	require.ErrorAs(t, <-result, &fault)
	require.Equal(t, SettingURI, fault.Setting)
}

func TestSpeaksTLSWithTheCertificatesOfAFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	cert := f.encrypted()
	f.cfg.CAFile = filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(f.cfg.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}), 0o600))
	in := newInbox()
	f.consume(fixedSlots(8), in.handle)
	f.publish(1)
	in.next(t).ack(t)
}

func TestCheckReportsTheBroker(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	found, err := Check(t.Context(), f.cfg, "extractors")
	require.NoError(t, err)
	require.Contains(t, found, "RabbitMQ")
	require.Contains(t, found, "does not exist yet")
	require.NotContains(t, found, "guest:guest")
	ready, _ := f.depth()
	require.Equal(t, -1, ready, "the check changes nothing")

	f.publish(2)
	found, err = Check(t.Context(), f.cfg, "extractors")
	require.NoError(t, err)
	require.Contains(t, found, "has 2 waiting messages and 0 consumers")

	f.replace("guest:guest", "guest:wrong")
	_, err = Check(t.Context(), f.cfg, "extractors")
	var fault *ConfigError
	require.ErrorAs(t, err, &fault)
	_, err = Check(t.Context(), Config{}, "extractors")
	require.ErrorContains(t, err, SettingQueue)
}

// replace changes a piece of the address.
func (f *fixture) replace(old, by string) {
	f.Helper()
	require.Contains(f, string(f.cfg.URI), old)
	f.cfg.URI = job.Secret(strings.Replace(string(f.cfg.URI), old, by, 1))
}

// user makes a user with the password s3cret and, if any, these permissions on the test's virtual host: three Erlang
// binaries to configure, write and read.
func (f *fixture) user(name, permissions string) {
	f.Helper()
	uri, err := amqp.ParseURI(f.direct)
	require.NoError(f, err)
	f.broker.MustEval(f, `rabbit_auth_backend_internal:add_user(<<"`+name+`">>, <<"s3cret">>, <<"test">>).`)
	f.Cleanup(func() {
		_, err := f.broker.Eval(context.Background(), `rabbit_auth_backend_internal:delete_user(<<"`+name+`">>, <<"test">>).`)
		require.NoError(f, err)
	})
	if permissions != "" {
		f.broker.MustEval(f, `rabbit_auth_backend_internal:set_permissions(<<"`+name+`">>, <<"`+uri.Vhost+`">>, `+permissions+`, <<"test">>).`)
	}
}

// encrypted puts a relay in front of the broker that speaks TLS, and returns its certificate.
func (f *fixture) encrypted() *x509.Certificate {
	f.Helper()
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	config, cert := web.TLS.Clone(), web.Certificate()
	web.Close()
	config.NextProtos = nil
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	require.NoError(f, err)
	var all sync.WaitGroup
	f.Cleanup(all.Wait)
	f.Cleanup(func() { _ = l.Close() })
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", f.broker.Addr())
			if err != nil {
				_ = near.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
				all.Go(func() {
					defer func() { _ = pair[0].Close(); _ = pair[1].Close() }()
					_, _ = io.Copy(pair[0], pair[1])
				})
			}
		}
	})
	uri, err := amqp.ParseURI(f.direct)
	require.NoError(f, err)
	f.cfg.URI = job.Secret("amqps://guest:guest@" + l.Addr().String() + "/" + uri.Vhost)
	return cert
}
