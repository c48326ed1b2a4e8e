package basemodel

import "regexp"

// notForAll are the licenses that do not allow every use. The trainer has the same rule (trainer/models/license.py), for models that somebody
// has put into the folder by hand.
var notForAll = regexp.MustCompile(`(?i)(?:^|[^a-z])nc(?:[^a-z]|$)|non[-_ ]?commercial|research[-_ ]?only|nvidia[-_ ]source`)

// suitsAll tells whether a model under this license may be the default, which trainings take without anybody choosing it.
func suitsAll(license string) bool { return !notForAll.MatchString(license) }
