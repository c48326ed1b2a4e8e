package clowder

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
)

// checkRights ends a job before its download where its results could not be added to the dataset: for a user who may only read, and for a
// released version of a dataset; it returns the dataset. What Clowder does not tell is no reason: the delivery will show it.
func checkRights(ctx context.Context, s versions.Session, id string) (clowder.Dataset, error) {
	var role clowder.Role
	var who clowder.Profile
	var dataset clowder.Dataset
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { role, err = s.Role(groupCtx, id); return passing(err) })
	group.Go(func() (err error) { who, err = s.Profile(groupCtx); return passing(err) })
	group.Go(func() (err error) { dataset, err = s.Dataset(groupCtx, id); return passing(err) })
	if err := group.Wait(); err != nil {
		return dataset, fmt.Errorf("look up what you may do with the dataset: %w", err)
	}
	switch {
	case dataset.Release > 0:
		return dataset, job.Permanent(fmt.Errorf("this is the released version %d of the dataset, which takes no results: submit the dataset itself (%s)", dataset.Release, dataset.OriginID))
	case who.ReadOnly:
		return dataset, job.Permanent(fmt.Errorf("the user %s may only read in this Clowder, so no results could be added: ask an administrator of Clowder for the right to write", who.Email))
	case role == clowder.RoleViewer && !who.AdminMode:
		return dataset, job.Permanent(fmt.Errorf("you may view this dataset but not add files to it, so no results could be added: ask %s for the role uploader", ownerOf(dataset)))
	}
	return dataset, nil
}

// passing keeps an error that another try may not meet.
func passing(err error) error {
	if kind, _ := job.Classify(err); err != nil && kind == job.KindPermanent {
		return nil
	}
	return err
}

func ownerOf(d clowder.Dataset) string {
	if d.Creator.Email == "" {
		return "its owner"
	}
	return "its owner " + d.Creator.Email
}
