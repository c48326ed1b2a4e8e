package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// The sandboxes that an administrator can choose, and the one that a backend with pods of its own is.
const (
	// SandboxAuto is bubblewrap or else gVisor, whatever holds on the machine of the script; without both the script is refused.
	SandboxAuto       = "auto"
	SandboxBubblewrap = "bubblewrap"
	SandboxGVisor     = "gvisor"
	// SandboxPod is a pod of its own for each script.
	SandboxPod = "pod"
	// SandboxNone holds nothing. It is for trusted users only.
	SandboxNone = "none"
)

// The checks of the code before a script starts.
const (
	CheckReport    = "report"
	CheckBlockHigh = "block_high"
	CheckOff       = "off"
)

// Policy is what an administrator allows.
type Policy struct {
	// Sandbox is one of the sandboxes above. With SandboxNone only the scripts of TrustedUsers run without a sandbox.
	Sandbox string
	// TrustedUsers are e-mail addresses.
	TrustedUsers []string
	// Check is the least check of the code.
	Check  string
	Limits Limits
	// CheckpointEvery is the time between two snapshots of the checkpoints of a script.
	CheckpointEvery time.Duration
	// GPU says whether scripts may use GPUs, Network whether they may use the network.
	GPU, Network bool
}

// Request is what a user asks for, as far as the policy decides it.
type Request struct {
	// User is the e-mail address of the user.
	User string
	// Pods says that the backend runs each script in pods of its own.
	Pods bool
	// Values are the checked values of the form.
	Values map[string]any
}

// Allow returns what a script gets. The error is permanent and for the user.
func (p Policy) Allow(r Request) (Spec, error) {
	if err := p.refuse(r); err != nil {
		return Spec{}, job.Permanent(err)
	}
	return Spec{
		Sandbox: p.sandbox(r), Check: p.Check, Limits: p.Limits, CheckpointSeconds: p.CheckpointEvery.Seconds(), GPU: p.GPU,
		Network: text(r.Values, "network") == "allow",
	}, nil
}

func (p Policy) sandbox(r Request) string {
	switch {
	case r.Pods:
		return SandboxPod
	case p.Sandbox == SandboxNone && !p.trusts(r.User):
		return SandboxAuto
	default:
		return p.Sandbox
	}
}

// trusts reports whether an administrator trusts the user.
func (p Policy) trusts(user string) bool {
	return user != "" && slices.ContainsFunc(p.TrustedUsers, func(one string) bool { return strings.EqualFold(one, user) })
}

// refuse says what of the form is not offered here.
func (p Policy) refuse(r Request) error {
	switch nodes := whole(r.Values, "nodes"); {
	case nodes > 1 && !r.Pods:
		return fmt.Errorf("%d machines need a cluster with pods of their own, which can be isolated together: set Machines to 1, "+
			"or ask the administrator for such a cluster", nodes)
	case nodes > 1 && text(r.Values, "launcher") == "python":
		return fmt.Errorf("%d machines need the launcher torchrun: set Launcher to auto or torchrun", nodes)
	case text(r.Values, "use_gpu") == "yes" && !p.GPU:
		return errors.New("scripts may not use GPUs here: set GPU to auto or no, or ask the administrator to set SCRIPT_GPU")
	case text(r.Values, "network") == "allow" && !p.Network:
		return errors.New("scripts have no network here: set Network to none and add the files that the script downloads to the dataset")
	}
	return nil
}

// text returns a text of the form.
func text(values map[string]any, name string) string {
	s, _ := values[name].(string)
	return strings.TrimSpace(s)
}

// whole returns a whole number, which is an int64 in a form and a float64 in a record.
func whole(values map[string]any, name string) int64 {
	switch n := values[name].(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	default:
		return 0
	}
}
