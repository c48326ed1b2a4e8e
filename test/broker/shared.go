package broker

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// sharedVar is the variable with the folder of a node that several test binaries share. A node needs seconds of processor time to start.
const sharedVar = "CLOWDER_RAY_TEST_BROKER"

// portsName is the file in the folder of a broker that says where it listens.
const portsName = "ports.json"

// Share returns the variable of the environment with which ForTest uses this broker in other processes. The broker stays this process's own.
func (b *Broker) Share() (variable string) { return sharedVar + "=" + b.dir }

type listening struct{ AMQP, Distribution, Mapper int }

func (b *Broker) writePorts() error {
	doc, err := json.Marshal(listening{b.amqp, b.dist, b.epmd})
	if err != nil {
		return err
	}
	return os.WriteFile(b.path(portsName), doc, 0o600)
}

// attach returns a broker that another process has started and stops. Stop leaves it alone.
func attach(dir string) (*Broker, error) {
	_, ctl, err := installed()
	if err != nil {
		return nil, err
	}
	doc, err := os.ReadFile(filepath.Join(dir, portsName)) //nolint:gosec // the folder comes from Command share
	if err != nil {
		return nil, fmt.Errorf("%s names no broker that runs: %w", sharedVar, err)
	}
	var at listening
	if err := json.Unmarshal(doc, &at); err != nil {
		return nil, fmt.Errorf("%s of the broker in %s: %w", portsName, dir, err)
	}
	return &Broker{dir: dir, ctl: ctl, amqp: at.AMQP, dist: at.Distribution, epmd: at.Mapper}, nil
}
