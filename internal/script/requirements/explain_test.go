package requirements

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestAFailureOfUVIsExplained(t *testing.T) {
	t.Parallel()
	lines := []Line{{Number: 1, Name: "alpha", Version: "==9"}, {Number: 4, Name: "my-package"}}
	image := map[string]string{"torch": "2.15.0"}
	for name, tc := range map[string]struct {
		output string
		want   string
		kind   job.Kind
	}{
		"a package that no index has": {
			output: "error: No solution found when resolving dependencies\n  cause: Because my-package was not found in the package registry and you require my-package, " +
				"we can conclude that your requirements are unsatisfiable.",
			want: "the package index has no package my-package (line 4 of the requirements file): correct its name, or remove it", kind: job.KindPermanent,
		},
		"a name that is spelled in another way": {
			output: "No solution found\n cause: Because My_Package was not found in the package registry and you require My_Package, we can conclude more.",
			want:   "the package index has no package My_Package (line 4 of the requirements file): correct its name, or remove it", kind: job.KindPermanent,
		},
		"a version that no index has": {
			output: "No solution found\n cause: Because there is no version of alpha==9 and you require alpha==9, we can conclude more.",
			want:   "the package index has no version alpha==9 (line 1 of the requirements file): choose another version", kind: job.KindPermanent,
		},
		"a version that another package needs": {
			output: "No solution found\n cause: Because there are no versions of delta>=3 and alpha depends on delta>=3, we can conclude more.",
			want:   "the package index has no version delta>=3: choose another version", kind: job.KindPermanent,
		},
		"source code alone": {
			output: "No solution found\n cause: Because alpha==1.0 has no usable wheels and you require alpha, we can conclude more.",
			want: "alpha 1.0 (line 1 of the requirements file) exists only as source code or for other versions of Python, and nothing is compiled here: " +
				"choose another version, or ask the administrator to add it to the image", kind: job.KindPermanent,
		},
		"another version of the image": {
			output: "No solution found\n cause: Because alpha==9 depends on torch>=3 and torch==2.15.0, we can conclude more.",
			want: "the requirements file needs torch>=3, and scripts run with torch 2.15.0 here: choose versions of the packages that work with it, " +
				"or ask the administrator for another image", kind: job.KindPermanent,
		},
		"packages that exclude each other": {
			output: "No solution found\n cause: Because alpha depends on beta>=2\n and gamma depends on beta<2, we can conclude that they exclude each other. hint: ask uv",
			want: "the packages of the requirements file exclude each other: Because alpha depends on beta>=2 and gamma depends on beta<2, " +
				"they exclude each other.", kind: job.KindPermanent,
		},
		"a condition without sense": {
			output: "error: Couldn't parse requirement in `in.txt` at position 0\n  cause: Expected a valid marker name, found `size`\n",
			want:   "a line of the requirements file cannot be read: Expected a valid marker name, found `size`", kind: job.KindPermanent,
		},
		"a Python without uv": {
			output: "/opt/python: No module named uv", want: "SCRIPT_PYTHON: this Python has no uv: install the package uv for it", kind: job.KindRetryable,
		},
		"an index that is away": {
			output: "error: Failed to fetch: `https://reader:canary-password@index.example.org/simple/alpha/`\n  cause: connection refused",
			want:   "the package index does not answer as expected: Failed to fetch: the package index: connection refused", kind: job.KindRetryable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := explain(&exec.ExitError{}, tc.output, lines, image)
			require.EqualError(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
		})
	}
}

func TestAnExplanationIsShortAndHasNoPassword(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("alpha depends on beta and ", 1000)
	for name, output := range map[string]string{
		"a conflict": "No solution found cause: " + long + "https://reader:canary-password@index.example.org/simple",
		"an index":   "error: https://reader:canary-password@index.example.org/simple: " + long,
		"a marker":   "Couldn't parse requirement cause: http://reader:canary-password@index.example.org " + long,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := explain(&exec.ExitError{}, output, nil, nil)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "canary-password")
			require.Less(t, len(err.Error()), 500)
		})
	}
}

func TestAnInterpreterThatDoesNotStartIsNotTheFaultOfTheUser(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{
		"no interpreter":        exec.ErrNotFound,
		"an end of the service": errors.Join(&exec.ExitError{}, context.Canceled),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := explain(cause, "No solution found", nil, nil)
			require.ErrorIs(t, err, cause)
			kind, _ := job.Classify(err)
			require.NotEqual(t, job.KindPermanent, kind)
		})
	}
}
