package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/cmd/extractor/basemodels"
	"github.com/ncsa/clowder-ray/internal/answer/manifests"
	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/text"
)

// modelsCommand reads and changes the model registry and the base models on the shared volume, also while the service runs.
func (p *program) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "models [DATASET]", Short: "List the trained models of all datasets or of one, * marks champions; install base models",
		Args: argCount(0, 1, "models [DATASET]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			models, err := p.registry(cmd)
			if err != nil {
				return err
			}
			return listModels(p.stdout, models, strings.Join(args, ""))
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "promote DATASET NAME/VERSION", Short: "Make a version the champion of its model",
		Args: argCount(2, 2, "models promote DATASET NAME/VERSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			models, err := p.registry(cmd)
			if err != nil {
				return err
			}
			return promote(p.stdout, models, args[0], args[1])
		},
	}, &cobra.Command{
		Use: "export DATASET NAME/VERSION FILE.zip", Short: "Write a version and its instructions into a zip file",
		Args: argCount(3, 3, "models export DATASET NAME/VERSION FILE.zip"),
		RunE: func(cmd *cobra.Command, args []string) error {
			models, err := p.registry(cmd)
			if err != nil {
				return err
			}
			return export(cmd.Context(), p.stdout, models, args[0], args[1], args[2])
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use: "onnx DATASET NAME/VERSION FILE.onnx", Short: "Write the network of a version in the ONNX format, or say why there is none",
		Args: argCount(3, 3, "models onnx DATASET NAME/VERSION FILE.onnx"),
		RunE: func(cmd *cobra.Command, args []string) error {
			models, err := p.registry(cmd)
			if err != nil {
				return err
			}
			return exportONNX(cmd.Context(), p.stdout, models, args[0], args[1], args[2])
		},
	}, p.manifestCommand())
	cmd.AddCommand(basemodels.Commands(basemodels.Environment{
		Stdin: os.Stdin, Stdout: p.stdout, Stderr: p.stderr, Getenv: p.getenv,
		Store: func(cmd *cobra.Command) (*basemodel.Store, error) {
			set, err := p.settings(cmd)
			if err != nil {
				return nil, err
			}
			return basemodel.New(volume.Volume{Dir: set.SharedDir}.BaseModels()), nil
		},
	})...)
	return cmd
}

// manifestCommand prints a manifest for Kubernetes.
func (p *program) manifestCommand() *cobra.Command {
	var as string
	var options manifests.Options
	cmd := &cobra.Command{
		Use: "manifest DATASET NAME/VERSION|NAME@champion", Short: "Print a Kubernetes manifest that serves a version: a Deployment, or for KServe or Ray Serve",
		Args: argCount(2, 2, "models manifest DATASET NAME/VERSION|NAME@champion"),
		RunE: func(cmd *cobra.Command, args []string) error {
			models, err := p.registry(cmd)
			if err != nil {
				return err
			}
			_, v, err := find(models, args[0], args[1])
			if err != nil {
				return err
			}
			sum, err := models.Digest(v)
			if err != nil {
				return err
			}
			doc, err := manifests.Write(as, v, sum, options)
			if err != nil {
				return job.Permanent(err)
			}
			_, err = io.WriteString(p.stdout, doc)
			return err
		},
	}
	cmd.Flags().StringVar(&as, "as", manifests.Deployment, "deployment, kserve or rayservice")
	cmd.Flags().StringVar(&options.Image, "image", "", "image of Ray with the trainer (default: that of the Helm chart)")
	cmd.Flags().StringVar(&options.Claim, "claim", "", "claim of the shared volume (default: clowder-ray-shared)")
	return cmd
}

func (p *program) registry(cmd *cobra.Command) (*registry.Registry, error) {
	set, err := p.settings(cmd)
	if err != nil {
		return nil, err
	}
	models := registry.New(volume.Volume{Dir: set.SharedDir}.Registry())
	models.OnFault(func(path string, err error) {
		_, _ = fmt.Fprintf(p.stderr, "warning: cannot read %s, it is not listed: %s\n", path, err)
	})
	return models, nil
}

// listModels lists the versions of the dataset with this id, folder or name, or of all datasets.
func listModels(w io.Writer, models *registry.Registry, dataset string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "DATASET\tMODEL\t\tTASK\tTEST\tBASE\tCREATED\tRUN\tDATASET NAME")
	all := models.Datasets()
	for _, d := range all {
		versions, err := models.All(d)
		if err != nil && !errors.Is(err, registry.ErrUnreadable) { // OnFault has reported it; the others are listed
			return err
		}
		id := handle(all, d)
		for _, v := range versions {
			if dataset != "" && dataset != id && dataset != d.ID && dataset != v.DatasetName {
				continue
			}
			mark, err := championMark(models, d, v)
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", id, v.Ref(), mark, v.Task, testScore(v), v.Base,
				v.Created.Format(time.DateTime), v.Run, text.Excerpt(v.DatasetName, 40))
		}
	}
	return tw.Flush()
}

// championMark returns "*" for the champion of its model.
func championMark(models *registry.Registry, d registry.Dataset, v registry.Version) (string, error) {
	champion, err := models.Champion(d, v.Name)
	if err != nil && !errors.Is(err, registry.ErrUnreadable) {
		return "", err
	}
	if champion != nil && champion.Version == v.Version {
		return "*", nil
	}
	return "", nil
}

func testScore(v registry.Version) string {
	if v.Test == nil {
		return "no test rows"
	}
	return fmt.Sprintf("%s %.3f", v.Metric, v.Test.Value)
}

func promote(w io.Writer, models *registry.Registry, dataset, ref string) error {
	d, v, err := find(models, dataset, ref)
	if err != nil {
		return err
	}
	if err := model.Promote(models, d, v, func(map[string]any) error { return nil }); err != nil { // without a credential for Clowder
		return err
	}
	_, err = fmt.Fprintf(w, "%s is now the champion of %s\n", v.Ref(), v.Name)
	return err
}

// export writes a version into a file.
func export(ctx context.Context, w io.Writer, models *registry.Registry, dataset, ref, file string) error {
	_, v, err := find(models, dataset, ref)
	if err != nil {
		return err
	}
	stored, err := model.Stored(models, v)
	if err != nil {
		return err
	}
	if err := writeFile(file, func(w io.Writer) error { return stored.Write(ctx, w) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "wrote %s to %s\n", v.Ref(), file)
	return err
}

// exportONNX writes model.onnx of a version into a file, if it is the file that was registered.
func exportONNX(ctx context.Context, w io.Writer, models *registry.Registry, dataset, ref, file string) error {
	_, v, err := find(models, dataset, ref)
	if err != nil {
		return err
	}
	content, err := models.ONNX(v)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	err = writeFile(file, func(w io.Writer) error {
		_, err := io.Copy(w, content)
		return errors.Join(err, context.Cause(ctx))
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "wrote the network of %s to %s\n", v.Ref(), file)
	return err
}

// writeFile writes a file that appears only when it is complete.
func writeFile(file string, write func(w io.Writer) error) error {
	part, err := os.CreateTemp(filepath.Dir(file), ".part-*")
	if err != nil {
		return job.Permanent(fmt.Errorf("write the model: %w", err))
	}
	err = write(part)
	if err = errors.Join(err, part.Chmod(0o644), part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// handle returns how users name a dataset: by its id, or by its folder if several Clowders have a dataset with this id.
func handle(all []registry.Dataset, d registry.Dataset) string {
	for _, other := range all {
		if other != d && other.ID == d.ID {
			return d.Folder()
		}
	}
	return d.ID
}

// find returns the version that ref names, as NAME/VERSION or NAME@champion, in the dataset with this id or folder.
func find(models *registry.Registry, dataset, ref string) (registry.Dataset, registry.Version, error) {
	if !strings.ContainsAny(ref, "/@") {
		return registry.Dataset{}, registry.Version{}, job.Permanent(fmt.Errorf("%s: name the model as NAME/VERSION or NAME@champion; extractor models lists them", ref))
	}
	d, err := findDataset(models, dataset)
	if err != nil {
		return d, registry.Version{}, err
	}
	v, err := models.Find(d, ref, func(string) (bool, error) { return false, nil })
	return d, v, err
}

func findDataset(models *registry.Registry, dataset string) (registry.Dataset, error) {
	var found []registry.Dataset
	for _, d := range models.Datasets() {
		if d.Folder() == dataset {
			return d, nil
		}
		if d.ID == dataset {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 0:
		return registry.Dataset{}, job.Permanent(fmt.Errorf("the dataset %s has no models: extractor models lists the ids of all datasets with models", dataset))
	case 1:
		return found[0], nil
	}
	choices := make([]string, len(found))
	for i, d := range found {
		choices[i] = d.Folder()
		if versions, err := models.All(d); err == nil {
			for _, v := range versions {
				if v.Clowder != "" {
					choices[i] = d.Folder() + " (" + v.Clowder + ")"
				}
			}
		}
	}
	return registry.Dataset{}, job.Permanent(fmt.Errorf("%d Clowders have a dataset %s: use %s instead", len(found), dataset, strings.Join(choices, " or ")))
}
