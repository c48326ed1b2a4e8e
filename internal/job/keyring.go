package job

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// keyBytes is the length of a state key: AES-256.
const keyBytes = 32

// Keyring seals the keys of users that lie in a store. It holds one or more state keys: the first one seals, all of them
// open, so that a key can be replaced without losing what the old one sealed. A nil Keyring seals nothing and opens only
// what is not sealed.
type Keyring struct {
	first   string
	ciphers map[string]cipher.AEAD // by the id of the state key
	roots   [][]byte               // what Derive expands, in the order of the state keys
}

// ParseKeyring reads state keys, each 32 bytes in base64, with white space or commas between them. A text without any gives
// nil: nothing is sealed. Its errors never repeat the text.
func ParseKeyring(text Secret) (*Keyring, error) {
	words := strings.FieldsFunc(text.Reveal(), func(r rune) bool { return strings.ContainsRune(" \t\r\n,", r) })
	if len(words) == 0 {
		return nil, nil //nolint:nilnil // without state keys there is no keyring
	}
	k := &Keyring{ciphers: map[string]cipher.AEAD{}}
	for i, word := range words {
		key, err := base64.StdEncoding.DecodeString(word)
		if err != nil || len(key) != keyBytes {
			return nil, fmt.Errorf("state key %d of %d is not %d bytes in base64: make one with openssl rand -base64 %d", i+1, len(words), keyBytes, keyBytes)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		id := keyID(key)
		if k.ciphers[id], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
		root, err := hkdf.Extract(sha256.New, key, nil)
		if err != nil {
			return nil, err
		}
		k.roots = append(k.roots, root)
		if i == 0 {
			k.first = id
		}
	}
	return k, nil
}

// Derive returns a key of 32 bytes for another purpose from each state key, the newest first. A nil Keyring gives none.
func (k *Keyring) Derive(purpose string) ([][]byte, error) {
	if k == nil {
		return nil, nil
	}
	keys := make([][]byte, len(k.roots))
	for i, root := range k.roots {
		var err error
		if keys[i], err = hkdf.Expand(sha256.New, root, "clowder-ray "+purpose, keyBytes); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// keyID identifies a state key in the store without revealing it.
func keyID(key []byte) string {
	sum := sha256.Sum256(append([]byte("clowder-ray state key\x00"), key...))
	return hex.EncodeToString(sum[:4])
}

// sealed is a user's key as it is stored: its text, and the id of the state key that opens it, empty where none is needed.
type sealed struct{ text, by string }

// seal returns s as it is stored for run.
func (k *Keyring) seal(run string, s Secret) sealed {
	if k == nil || s == "" {
		return sealed{text: s.Reveal()}
	}
	// The run is sealed in, so that a key which is moved to another job's row does not open there.
	box := k.ciphers[k.first].Seal(nil, nil, []byte(s), []byte(run)) //nolint:gosec // this cipher chooses its nonces itself
	return sealed{text: base64.StdEncoding.EncodeToString(box), by: k.first}
}

// open is the reverse of seal.
func (k *Keyring) open(run string, s sealed) (Secret, error) {
	if s.by == "" {
		return Secret(s.text), nil
	}
	if !k.has(s.by) {
		return "", errMissingKey(s.by)
	}
	box, err := base64.StdEncoding.DecodeString(s.text)
	if err == nil {
		box, err = k.ciphers[s.by].Open(nil, nil, box, []byte(run))
	}
	if err != nil {
		return "", errors.New("the sealed key of the user was changed in the store")
	}
	return Secret(box), nil
}

// has reports whether the state key of that id is here; what is not sealed has no id and needs none.
func (k *Keyring) has(id string) bool {
	return id == "" || k != nil && k.ciphers[id] != nil
}

// sealer is the id of the state key that seals; empty where nothing is sealed.
func (k *Keyring) sealer() string {
	if k == nil {
		return ""
	}
	return k.first
}

func errMissingKey(id string) error {
	return Permanent(fmt.Errorf("the job store holds users' keys that are sealed by the state key %s, which is not among the given ones: "+
		"add it to STATE_KEY or STATE_KEY_FILE behind the new one; nothing is lost", id))
}
