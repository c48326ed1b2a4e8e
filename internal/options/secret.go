package options

import (
	"regexp"
	"strings"
)

// Hidden is what stands in place of a key or a password.
const Hidden = "***"

var (
	// secretName matches names of what is kept secret: WANDB_API_KEY, hf-token, password. max_tokens and id_column are none.
	secretName = regexp.MustCompile(`(?i)(^|[_.-])(api[_-]?key|(access|secret|private)[_-]?key|(auth|access|api|hub|hf)?[_-]?token|secret|passw(or)?d|credentials?)$`)
	// secretText matches keys that tell by their form what they are, of the services that people train with.
	secretText = regexp.MustCompile(`\b(hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|wandb_v1_\w{20,}|xox[abp]-[A-Za-z0-9-]{10,})`)
	// secretLine matches a line or a pair that gives such a name a value: the name, what stands between, and the value.
	secretLine = regexp.MustCompile(`([A-Za-z0-9_.-]+)(["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,;}]+)`)
)

// IsSecret reports whether the name of a parameter or an option says that its value is a key or a password.
func IsSecret(name string) bool { return secretName.MatchString(strings.TrimSpace(name)) }

// WithoutSecrets returns a text of a user without the keys and passwords that can be told by their form or by the name before them.
func WithoutSecrets(s string) string {
	s = secretText.ReplaceAllString(s, Hidden)
	return secretLine.ReplaceAllStringFunc(s, func(pair string) string {
		parts := secretLine.FindStringSubmatch(pair)
		if !IsSecret(parts[1]) {
			return pair
		}
		return parts[1] + parts[2] + Hidden
	})
}
