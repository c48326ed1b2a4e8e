package byid_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results/byid"
)

// document is the content of ids.json with one answer and one label.
const document = `{"schema":1,"run":"pr-one","attempt":1,"form":"class","rows":3,"answers":{"00112233445566aa":"wren"},"repeated":1,` +
	`"listed":["00112233445566aa"],"labels":{"00112233445566ab":"owl"},"contradicting":0}`

func TestTheDocumentIsChecked(t *testing.T) {
	t.Parallel()
	found, err := byid.Decode([]byte(document))
	require.NoError(t, err)
	require.Equal(t, "wren", found.Answers["00112233445566aa"])
	written, err := os.ReadFile(filepath.Join("..", "..", "..", "trainer", "tests", "ids.json")) // as the trainer writes it
	require.NoError(t, err)
	found, err = byid.Decode(written)
	require.NoError(t, err)
	require.Equal(t, []int{3, 1, 1, 2, 1, 1}, []int{found.Rows, found.Repeated, len(found.Answers), len(found.Labels), found.Contradicting, len(found.Listed)})
	many := make([]string, 20_001)
	for i := range many {
		many[i] = fmt.Sprintf(`"%016x":"a"`, i)
	}
	for problem, change := range map[string][2]string{
		"schema 2":               {`"schema":1`, `"schema":2`},
		"neither class":          {`"class"`, `"picture"`},
		"cannot be of a row":     {`"00112233445566ab":"owl"`, `"P017":"owl"`},
		`"00112233445566ab" can`: {`"owl"`, `""`},
		"do not fit together":    {`"rows":3`, `"rows":0`},
		"was proposed":           {`"listed":["00112233445566aa"]`, `"listed":["00112233445566ac"]`},
		"no JSON of this form":   {`{"00112233445566ab":"owl"}`, `["owl"]`},
		"more than 20,000":       {`"00112233445566ab":"owl"`, strings.Join(many, ",")},
	} {
		_, err := byid.Decode([]byte(strings.Replace(document, change[0], change[1], 1)))
		require.ErrorContains(t, err, problem)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(document))
	f.Add([]byte(`{"schema":1,"form":"number"}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		found, err := byid.Decode(doc)
		if err != nil {
			require.Nil(t, found)
			return
		}
		require.GreaterOrEqual(t, found.Rows, len(found.Answers))
	})
}
