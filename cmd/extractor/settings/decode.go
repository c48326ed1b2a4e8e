package settings

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"
)

// decode turns the values of file, environment and flags into Settings. It reports all values of a wrong type at once, each with the
// environment variable of its setting.
func decode(v *viper.Viper) (Settings, error) {
	names := make(map[string]string) // key → environment variable
	for _, s := range Table() {
		names[s.Key] = s.Env
	}
	var invalid []error
	for _, key := range slices.Sorted(slices.Values(v.AllKeys())) {
		if names[key] == "" {
			invalid = append(invalid, fmt.Errorf("%s: there is no such setting", key))
		}
	}
	var out Settings
	err := v.Unmarshal(&out, viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(durationHook, wholeHook, truthHook, listHook)))
	for _, e := range flat(err) {
		failed, ok := errors.AsType[*mapstructure.DecodeError](e)
		if !ok {
			invalid = append(invalid, fmt.Errorf("read the settings: %w", e))
			continue
		}
		why := failed.Unwrap()
		if _, ok := errors.AsType[*mapstructure.UnconvertibleTypeError](why); ok {
			why = errors.New("must be a single value, not a list or a group")
		}
		key, _, _ := strings.Cut(failed.Name(), "[") // of a list, its part is named
		invalid = append(invalid, fmt.Errorf("%s: %w", names[key], why))
	}
	return out, errors.Join(invalid...)
}

// flat lists the errors that are joined in err.
func flat(err error) []error {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, flat(e)...)
		}
		return all
	}
	return []error{err}
}

// wholeHook reads a whole number of base ten, also after zeros. In a file, an empty text is 0.
func wholeHook(_, to reflect.Type, data any) (any, error) {
	written, ok := data.(string)
	if !ok || written == "" || to.Kind() != reflect.Int && to.Kind() != reflect.Int64 {
		return data, nil
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(written), "_", ""), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("must be a whole number, got %q", written)
	}
	return n, nil
}

// truthHook reads true and false. In a file, an empty text is false.
func truthHook(_, to reflect.Type, data any) (any, error) {
	written, ok := data.(string)
	if !ok || written == "" || to.Kind() != reflect.Bool {
		return data, nil
	}
	truth, err := strconv.ParseBool(strings.TrimSpace(written))
	if err != nil {
		return nil, fmt.Errorf("must be true or false, got %q", written)
	}
	return truth, nil
}

// listHook reads a list that is written in one text with commas. Blanks around its parts mean nothing.
func listHook(_, to reflect.Type, data any) (any, error) {
	if to != reflect.TypeFor[[]string]() {
		return data, nil
	}
	var parts []string
	switch d := data.(type) {
	case string:
		parts = strings.Split(d, ",")
	case []string: // of a flag
		parts = d
	default:
		return data, nil
	}
	list := make([]string, 0, len(parts))
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list, nil
}

// durationHook reads a plain number as seconds, like pyclowder's HEARTBEAT, and 90d as days.
func durationHook(_, to reflect.Type, data any) (any, error) {
	if to != reflect.TypeFor[time.Duration]() {
		return data, nil
	}
	switch n := data.(type) {
	case int:
		return duration(float64(n), time.Second)
	case float64:
		return duration(n, time.Second)
	case string:
		if seconds, err := strconv.ParseFloat(n, 64); err == nil {
			return duration(seconds, time.Second)
		}
		if days, err := strconv.Atoi(strings.TrimSuffix(n, "d")); err == nil {
			return duration(float64(days), 24*time.Hour)
		}
		if d, err := time.ParseDuration(n); err == nil {
			return d, nil
		}
		return nil, fmt.Errorf("must be a time like 90s, 5m, 2h or 7d, got %q", n)
	}
	return data, nil
}

// duration returns n units. It is an error if that is no number or longer than 292 years, which no time can hold.
func duration(n float64, unit time.Duration) (time.Duration, error) {
	if ns := n * float64(unit); math.Abs(ns) < math.MaxInt64 {
		return time.Duration(ns), nil
	}
	return 0, errors.New("must be a time of less than 292 years; 0 means no limit where the setting allows it")
}
