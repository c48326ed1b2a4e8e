package edit

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

func TestAClowderThatKeepsNoVersionsHasNoFilesForTheEditor(t *testing.T) {
	t.Parallel()
	double, err := clowdertest.New(clowdertest.Options{Version: 1, Dir: t.TempDir(), Users: []string{alice}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, double.Close()) })
	client, err := clowder.NewClient(clowder.Config{URL: double.URL, Attempts: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	dataset := double.AddDataset(alice, "Reviews")
	file, err := double.AddFile(dataset, "finetune.yaml", strings.NewReader("epochs: many\n"))
	require.NoError(t, err)
	session, err := versions.Of(1).At(client, "", job.Secret(double.Key(alice)))
	require.NoError(t, err)
	ctx := web.WithVisitor(t.Context(), &web.Visitor{Email: alice, Clowder: session})

	section := &Section{rights: asked{}}
	for name, use := range map[string]func(context.Context) error{
		"the list of files": func(ctx context.Context) error { _, _, _, err := section.list(ctx, dataset); return err },
		"a file":            func(ctx context.Context) error { _, err := section.open(ctx, dataset, file); return err },
		"a new file": func(ctx context.Context) error {
			_, err := section.create(ctx, dataset, "new.yaml", "a: 1")
			return err
		},
		"a save": func(ctx context.Context) error { _, err := section.save(ctx, dataset, file, "1-x", "a: 1"); return err },
		"the text": func(ctx context.Context) error {
			_, err := filesOf(ctx).ReadFile(ctx, clowder.File{}, 0, 1)
			return err
		},
		"the versions": func(ctx context.Context) error { _, err := filesOf(ctx).Versions(ctx, file, 1); return err },
		"a new version": func(ctx context.Context) error {
			_, err := filesOf(ctx).Update(ctx, clowder.FileState{}, nil)
			return err
		},
	} {
		require.Equal(t, http.StatusNotFound, web.AsProblem(use(ctx)).Status, name)
	}
	for _, settings := range []string{file, "finetune.yaml"} {
		require.NoError(t, new(Settings).Check(ctx, dataset, settings), "the training itself says what is wrong with it")
	}
}
