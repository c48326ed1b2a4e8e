package settings

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// AddFlags adds a flag for every setting to fs.
func AddFlags(fs *pflag.FlagSet) {
	fs.String("config", "", "settings file in YAML, TOML or JSON")
	for _, s := range Table() {
		help := s.Help + " (" + s.Env + ")"
		switch value := s.Value.(type) {
		case bool:
			fs.Bool(flagName(s.Key), value, help)
		case string:
			fs.String(flagName(s.Key), value, help)
		case int:
			fs.Int(flagName(s.Key), value, help)
		case int64:
			fs.Int64(flagName(s.Key), value, help)
		case []string:
			fs.StringSlice(flagName(s.Key), value, help)
		}
	}
}

// HideFlags leaves the flags of fs out of help texts.
func HideFlags(fs *pflag.FlagSet) { fs.VisitAll(func(f *pflag.Flag) { f.Hidden = true }) }

func flagName(key string) string { return strings.ReplaceAll(key, "_", "-") }

// Read reads the file, the environment and the flags into Settings, sets the values that depend on others, and reports
// all invalid values at once.
func Read(fs *pflag.FlagSet, environ []string) (Settings, error) {
	v := viper.New()
	env := map[string]string{}
	for _, kv := range environ {
		k, val, _ := strings.Cut(kv, "=")
		env[k] = val
	}
	for _, s := range Table() {
		v.SetDefault(s.Key, s.Value)
	}
	if file, _ := fs.GetString("config"); file != "" {
		v.SetConfigFile(file)
		if err := v.ReadInConfig(); err != nil {
			return Settings{}, fmt.Errorf("read the settings file: %w", err)
		}
	}
	// Set has the highest rank in viper, so the environment is set before the flags that the user gave.
	for _, s := range Table() {
		if val := env[s.Env]; val != "" {
			v.Set(s.Key, val)
		}
		if f := fs.Lookup(flagName(s.Key)); f != nil && f.Changed {
			v.Set(s.Key, f.Value.String())
			if list, ok := f.Value.(pflag.SliceValue); ok {
				v.Set(s.Key, list.GetSlice())
			}
		}
	}
	out, err := decode(v)
	if err != nil {
		return Settings{}, err
	}
	if err := out.complete(); err != nil {
		return Settings{}, err
	}
	return out, nil
}
