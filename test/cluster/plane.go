package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// startTimeout is the longest that a program may take to answer; stopTimeout, after which it is killed.
const (
	startTimeout = 2 * time.Minute
	stopTimeout  = 5 * time.Second
)

// Plane is a control plane without nodes.
type Plane struct {
	dir   string
	bin   string // the real programs
	env   *envtest.Environment
	admin *kubernetes.Clientset

	kubelets sync.WaitGroup // goroutines of PlayKubelet
}

// quiet keeps controller-runtime, which envtest is a part of, from printing a warning and a stack. It bears one call only: two at
// once are a data race in it.
var quiet = sync.OnceFunc(func() { log.SetLogger(logr.Discard()) })

// Start starts etcd and the API server and installs KubeRay's definitions. Programs that are missing are built first,
// which takes minutes. Stop must be called.
func Start(ctx context.Context) (*Plane, error) {
	bin, err := programs(ctx, "etcd", "kube-apiserver")
	if err != nil {
		return nil, err
	}
	crds, err := definitions(ctx)
	if err != nil {
		return nil, err
	}
	quiet()
	dir, err := os.MkdirTemp("", "clowder-ray-plane-")
	if err != nil {
		return nil, err
	}
	p := &Plane{dir: dir, bin: bin}
	if err := p.start(crds); err != nil {
		return nil, errors.Join(fmt.Errorf("start a control plane: %w", err), p.Stop())
	}
	return p, nil
}

func (p *Plane) start(crds string) error {
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if err := p.leash(name); err != nil {
			return err
		}
	}
	for _, folder := range []string{"certs", "etcd-data"} {
		if err := os.Mkdir(filepath.Join(p.dir, folder), 0o700); err != nil {
			return err
		}
	}
	p.env = &envtest.Environment{
		CRDDirectoryPaths:        []string{crds},
		ErrorIfCRDPathMissing:    true,
		CRDInstallOptions:        envtest.CRDInstallOptions{MaxTime: startTimeout},
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
	}
	p.env.ControlPlane.Etcd = &envtest.Etcd{Path: p.path("etcd"), DataDir: p.path("etcd-data")}
	api := p.env.ControlPlane.GetAPIServer()
	// A folder of ours, not of envtest: certificates and users outlive a stop of the API server.
	api.Path, api.CertDir = p.path("kube-apiserver"), p.path("certs")
	if _, err := p.env.Start(); err != nil {
		return err
	}
	if err := os.WriteFile(p.Kubeconfig(), p.env.KubeConfig, 0o600); err != nil {
		return err
	}
	var err error
	p.admin, err = kubernetes.NewForConfig(p.env.Config)
	return err
}

// leash makes a program in p.dir that is the real one, yet dies with us, so that a test that is killed leaves nothing. With a larger heap, the
// API server needs 5 s of processor time to start instead of 8 s.
func (p *Plane) leash(name string) error {
	script := fmt.Sprintf("#!/bin/sh\nexec setpriv --pdeathsig KILL env GOGC=800 '%s' \"$@\"\n", filepath.Join(p.bin, name))
	return os.WriteFile(p.path(name), []byte(script), 0o700) //nolint:gosec // it must be executable
}

func (p *Plane) path(name string) string { return filepath.Join(p.dir, name) }

// Stop ends the API server and etcd and removes the plane's folder. Contexts of PlayKubelet must have ended.
func (p *Plane) Stop() error {
	p.kubelets.Wait()
	var err error
	if p.env != nil {
		err = p.env.Stop()
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

// Config is the administrator's access, without a limit on the rate of requests.
func (p *Plane) Config() *rest.Config { return rest.CopyConfig(p.env.Config) }

// Admin is a client that may do everything.
func (p *Plane) Admin() kubernetes.Interface { return p.admin }

// Kubeconfig is a file with the administrator's access, for programs that read KUBECONFIG.
func (p *Plane) Kubeconfig() string { return p.path("kubeconfig") }

// UserConfig is the access of a user who may do what RBAC allows to that name and those groups, and nothing else.
func (p *Plane) UserConfig(name string, groups ...string) (*rest.Config, error) {
	user, err := p.env.AddUser(envtest.User{Name: name, Groups: groups}, &rest.Config{QPS: -1})
	if err != nil {
		return nil, fmt.Errorf("add user %s: %w", name, err)
	}
	return user.Config(), nil
}

// StopAPI makes the API server go away: connections are refused until StartAPI.
func (p *Plane) StopAPI(ctx context.Context) error {
	api := p.env.ControlPlane.GetAPIServer()
	stopped := api.Stop() // an error also where it had to be killed, which is as good
	for listens(ctx, net.JoinHostPort(api.Address, api.Port)) {
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), stopped)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

func listens(ctx context.Context, address string) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// StartAPI starts the API server again, at the same address, with the same certificates and users.
func (p *Plane) StartAPI() error {
	if err := p.env.ControlPlane.GetAPIServer().Start(); err != nil {
		return fmt.Errorf("start the API server: %w", err)
	}
	return nil
}
