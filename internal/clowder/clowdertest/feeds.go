package clowdertest

import "slices"

// feed submits a new file to each extractor that has a list of file types, with no parameters, as v2 does through the feed that it makes for
// such an extractor. An empty list means all types; this double knows no others.
func (s *Server) feed(f *file, u user) {
	s.state.mu.Lock()
	var messages []fileMessage
	var names []string
	for _, l := range s.state.listeners {
		process, _ := l.Properties["process"].(map[string]any)
		if types, ok := process["file"].([]any); !ok || len(types) > 0 {
			continue
		}
		j := s.state.addJob(l.Name, reference{Collection: "files", ResourceID: f.ID, Version: &f.VersionNum}, map[string]any{}, u)
		names = append(names, l.Name)
		messages = append(messages, fileMessage{
			Host: s.opts.Host, SecretKey: s.state.jobKey(u.Email), Resource: "file", Filename: f.Name, FileSize: f.Bytes, ID: f.ID,
			DatasetID: f.DatasetID, JobID: j.ID, Parameters: map[string]any{},
		})
	}
	s.state.mu.Unlock()
	for i, m := range messages {
		_, _ = s.dispatch(names[i], m.JobID, m) // v2 answers 500 and has the file
	}
}

// v1Added tells each extractor that lists such events of a new file. In a real Clowder v1 an administrator must have enabled it for them.
func (s *Server) v1Added(id string, c v1Caller) {
	s.state.mu.Lock()
	var messages []v1Message
	var names []string
	f := s.state.files[id]
	for name, info := range s.state.v1.extractors {
		process, _ := info["process"].(map[string]any)
		events, _ := process["dataset"].([]any)
		if f == nil || !slices.Contains(events, any("file.added")) {
			continue
		}
		m := s.v1Message(c, name, "'file", f.ID)
		m.DatasetID, m.FileSize, m.Activity, m.RoutingKey, m.Action = f.DatasetID, "0", "added", "clowder.dataset.file.added", ""
		names, messages = append(names, name), append(messages, m)
	}
	s.state.mu.Unlock()
	for i, m := range messages {
		s.v1Dispatch(names[i], m)
	}
}
