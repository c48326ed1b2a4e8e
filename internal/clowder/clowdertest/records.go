package clowdertest

import (
	"encoding/json"
	"time"
)

// stamp is a time as Python writes it: UTC without a zone, in milliseconds as in MongoDB.
type stamp time.Time

// MarshalJSON writes the zero time as null.
func (s stamp) MarshalJSON() ([]byte, error) {
	if time.Time(s).IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(time.Time(s).UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000000"))
}

func now() stamp { return stamp(time.Now()) }

type user struct {
	Email     string `json:"email"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	ID        string `json:"id"`
	Admin     bool   `json:"admin"`
	AdminMode bool   `json:"admin_mode"`
	ReadOnly  bool   `json:"read_only_user"`
}

type dataset struct {
	Name          string  `json:"name"`
	Description   *string `json:"description"`
	Status        string  `json:"status"`
	Creator       user    `json:"creator"`
	Created       stamp   `json:"created"`
	Modified      stamp   `json:"modified"`
	Views         int     `json:"user_views"`
	Downloads     int     `json:"downloads"`
	ThumbnailID   *string `json:"thumbnail_id"`
	OriginID      *string `json:"origin_id"`
	License       bool    `json:"standard_license"`
	LicenseID     *string `json:"license_id"`
	ID            string  `json:"id"`
	Frozen        bool    `json:"frozen"`
	FrozenVersion int     `json:"frozen_version_num"`
	Deleted       bool    `json:"deleted"`

	roles map[string]string // e-mail → role, except the creator
}

type folder struct {
	Name       string  `json:"name"`
	DatasetID  string  `json:"dataset_id"`
	Parent     *string `json:"parent_folder"`
	Creator    user    `json:"creator"`
	Created    stamp   `json:"created"`
	Modified   stamp   `json:"modified"`
	ObjectType string  `json:"object_type"`
	OriginID   *string `json:"origin_id"`
	ID         string  `json:"id"`
	Frozen     bool    `json:"frozen"`
}

type contentType struct {
	Full string `json:"content_type"`
	Main string `json:"main_type"`
}

type file struct {
	Name        string      `json:"name"`
	Status      string      `json:"status"`
	Creator     user        `json:"creator"`
	Created     stamp       `json:"created"`
	VersionID   string      `json:"version_id"`
	VersionNum  int         `json:"version_num"`
	DatasetID   string      `json:"dataset_id"`
	FolderID    *string     `json:"folder_id"`
	Views       int         `json:"views"`
	Downloads   int         `json:"downloads"`
	Bytes       int64       `json:"bytes"`
	ContentType contentType `json:"content_type"`
	ThumbnailID *string     `json:"thumbnail_id"`
	StorageType string      `json:"storage_type"`
	StoragePath *string     `json:"storage_path"`
	ObjectType  string      `json:"object_type"`
	OriginID    *string     `json:"origin_id"`
	ID          string      `json:"id"`
	Frozen      bool        `json:"frozen"` // always true, except where the real Clowder reads from its view of files

	published bool // of a published version of the dataset
}

type reference struct {
	Collection string `json:"collection"`
	ResourceID string `json:"resource_id"`
	Version    *int   `json:"version"`
}

type metadataListener struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type metadata struct {
	Context     []any          `json:"@context"`
	ContextURL  *string        `json:"context_url"`
	Definition  *string        `json:"definition"`
	Content     map[string]any `json:"content"`
	Description *string        `json:"description"`
	Resource    reference      `json:"resource"`
	Agent       struct {
		Creator  user              `json:"creator"`
		Listener *metadataListener `json:"listener"`
	} `json:"agent"`
	Created  stamp   `json:"created"`
	OriginID *string `json:"origin_id"`
	ID       string  `json:"id"`
	Frozen   bool    `json:"frozen"`
}

type visualization struct {
	Resource      reference           `json:"resource"`
	ExtractorInfo any                 `json:"extractor_info"`
	Job           any                 `json:"job"`
	Client        *string             `json:"client"`
	Parameters    map[string]any      `json:"parameters"`
	Component     string              `json:"visualization_component_id"`
	MimeType      string              `json:"visualization_mimetype"`
	OriginID      *string             `json:"origin_id"`
	ID            string              `json:"id"`
	Frozen        bool                `json:"frozen"`
	Data          []visualizationData `json:"visualization_data"`
}

type visualizationData struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Creator     user        `json:"creator"`
	Created     stamp       `json:"created"`
	Modified    stamp       `json:"modified"`
	Bytes       int64       `json:"bytes"`
	ContentType contentType `json:"content_type"`
	ConfigID    string      `json:"visualization_config_id"`
	OriginID    *string     `json:"origin_id"`
	ID          string      `json:"id"`
}

type jobRecord struct {
	ListenerID string         `json:"listener_id"`
	Resource   reference      `json:"resource_ref"`
	Creator    user           `json:"creator"`
	Parameters map[string]any `json:"parameters"`
	Created    stamp          `json:"created"`
	Started    stamp          `json:"started"`
	Updated    stamp          `json:"updated"`
	Finished   stamp          `json:"finished"`
	Duration   *float64       `json:"duration"`
	Latest     *string        `json:"latest_message"`
	Status     string         `json:"status"`
	ID         string         `json:"id"`
}

type jobUpdate struct {
	JobID     string `json:"job_id"`
	Status    string `json:"status"`
	Timestamp stamp  `json:"timestamp"`
	ID        string `json:"id"`
}

type listener struct {
	Name        string         `json:"name"`
	Version     string         `json:"version"`
	Description string         `json:"description"`
	Access      any            `json:"access"`
	ID          string         `json:"id"`
	Created     stamp          `json:"created"`
	Modified    stamp          `json:"modified"`
	LastAlive   stamp          `json:"lastAlive"`
	Alive       bool           `json:"alive"`
	Active      bool           `json:"active"`
	Properties  map[string]any `json:"properties"`

	owner string
}
