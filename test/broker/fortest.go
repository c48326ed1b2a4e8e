package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// URLVariable names a broker that is not ours; its tests use it instead of one of their own.
const URLVariable = "AMQP_URL"

// shared is the one node that the tests of a binary share. The first test that asks for it starts it, unless sharedVar names one.
var shared = struct {
	sync.Mutex
	broker  *Broker
	err     error
	vhosts  int
	started bool
}{}

// ForTest returns a broker for tests that leave it as it is: the one that AMQP_URL names, the one that Command share has started, or one node for
// the whole test binary. Without any it skips the test. TestMain should run Main, which stops the node.
func ForTest(tb testing.TB) *Broker {
	tb.Helper()
	if uri := os.Getenv(URLVariable); uri != "" {
		return &Broker{external: uri}
	}
	shared.Lock()
	defer shared.Unlock()
	if !shared.started {
		shared.started = true
		if dir := os.Getenv(sharedVar); dir != "" {
			shared.broker, shared.err = attach(dir)
		} else {
			shared.broker, shared.err = Start(context.Background(), Options{})
		}
	}
	return check(tb, shared.broker, shared.err)
}

// Own starts a node for one test alone, which may stop, kill or starve it; it ends with the test. Without RabbitMQ it
// skips the test.
func Own(tb testing.TB) *Broker {
	tb.Helper()
	b, err := Start(tb.Context(), Options{})
	check(tb, b, err)
	tb.Cleanup(func() {
		if err := b.Stop(); err != nil {
			tb.Errorf("stop the broker: %v", err)
		}
	})
	return b
}

func check(tb testing.TB, b *Broker, err error) *Broker {
	tb.Helper()
	if errors.Is(err, ErrNotInstalled) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// Vhost makes a virtual host for one test, so that tests can run at once and none sees another's queues, and returns its
// address. It goes with the test. A broker that is not ours has no such power: there the test gets the common address.
func (b *Broker) Vhost(tb testing.TB) string {
	tb.Helper()
	if b.external != "" {
		return b.external
	}
	shared.Lock()
	shared.vhosts++
	name := fmt.Sprintf("test-%d-%d", os.Getpid(), shared.vhosts) // several processes may share the node
	shared.Unlock()
	b.MustEval(tb, fmt.Sprintf(`rabbit_vhost:add(<<"%[1]s">>, <<"test">>), rabbit_auth_backend_internal:set_permissions(`+
		`<<"guest">>, <<"%[1]s">>, <<".*">>, <<".*">>, <<".*">>, <<"test">>).`, name))
	tb.Cleanup(func() {
		// The node may be dead by now: then there is nothing to tidy up.
		_, _ = b.Eval(context.Background(), fmt.Sprintf(`rabbit_vhost:delete(<<"%s">>, <<"test">>).`, name))
	})
	return b.URI() + name
}

// MustEval is Eval for tests; it skips the test on a broker that is not ours.
func (b *Broker) MustEval(tb testing.TB, expression string) string {
	tb.Helper()
	if b.external != "" {
		tb.Skip("this test commands the broker, and the one of AMQP_URL is not ours")
	}
	out, err := b.Eval(tb.Context(), expression)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// Main wraps a *testing.M so that the node of ForTest is stopped after the last test:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(broker.Main(m)) }
func Main(m *testing.M) interface{ Run() int } { return tests{m} }

type tests struct{ *testing.M }

// Run runs the tests and stops the shared node.
func (t tests) Run() int {
	code := t.M.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.broker == nil {
		return code
	}
	if err := shared.broker.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the broker:", err)
		return 1
	}
	return code
}
