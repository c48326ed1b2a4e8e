package queue

import (
	"bytes"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestHeadersAreCopiedBothWays(t *testing.T) {
	t.Parallel()
	raw := amqp.Table{
		"text": "x", "number": int64(3), "bytes": []byte("raw"),
		"x-death": []any{amqp.Table{"count": int64(1), "queue": "q"}, "y"},
	}
	headers := fromTable(raw)
	require.Equal(t, map[string]any{
		"text": "x", "number": int64(3), "bytes": []byte("raw"),
		"x-death": []any{map[string]any{"count": int64(1), "queue": "q"}, "y"},
	}, headers)
	back, err := toTable(headers)
	require.NoError(t, err)
	require.Equal(t, raw, back)

	headers["bytes"].([]byte)[0] = 'X'
	headers["x-death"].([]any)[0].(map[string]any)["queue"] = "other"
	require.Equal(t, []byte("raw"), raw["bytes"])
	require.Equal(t, "q", raw["x-death"].([]any)[0].(amqp.Table)["queue"])
	require.Nil(t, fromTable(nil))
}

func TestHeadersThatNoMessageCarriesAreRefused(t *testing.T) {
	t.Parallel()
	deep := map[string]any{}
	for range 100 {
		deep = map[string]any{"deeper": []any{deep}}
	}
	for name, headers := range map[string]map[string]any{
		"a type that AMQP does not know": {"x": struct{}{}},
		"the same inside a list":         {"x": []any{map[string]any{"y": struct{}{}}}},
		"nested too deeply":              deep,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Message{RoutingKey: "q", Headers: headers}.publishing()
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

// FuzzHeaders nests headers as the bytes say, as a hostile sender might, and requires a copy that ends and can be sent.
func FuzzHeaders(f *testing.F) {
	f.Add([]byte("tlvtl"))
	f.Add(bytes.Repeat([]byte("t"), 100))
	f.Add(bytes.Repeat([]byte("lt"), 100))
	f.Fuzz(func(t *testing.T, shape []byte) {
		var value any = "leaf"
		for _, b := range shape {
			switch b % 4 {
			case 0:
				value = amqp.Table{"k": value, "n": int32(b)}
			case 1:
				value = []any{value, shape}
			case 2:
				value = []any{value, value}
			default:
				value = amqp.Table{string(shape): value}
			}
			if len(shape) > 200 {
				return
			}
		}
		headers := fromTable(amqp.Table{"root": value})
		require.Contains(t, headers, "root")
		_, err := toTable(headers)
		require.NoError(t, err)
	})
}
