package login

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// sealer seals what the studio stores in cookies. The first key seals, all open.
type sealer struct{ ciphers []cipher.AEAD }

// newSealer returns a sealer for keys of 32 bytes. Without any it makes one, and what it seals is worth nothing after a restart.
func newSealer(keys [][]byte) (sealer, error) {
	if len(keys) == 0 {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		keys = [][]byte{key}
	}
	var s sealer
	for _, key := range keys {
		block, err := aes.NewCipher(key)
		if err != nil {
			return sealer{}, fmt.Errorf("the key for cookies: %w", err)
		}
		box, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return sealer{}, fmt.Errorf("the key for cookies: %w", err)
		}
		s.ciphers = append(s.ciphers, box)
	}
	return s, nil
}

// seal returns a value as the text of a cookie. A text for one purpose does not open for another one.
func (s sealer) seal(purpose string, value any) (string, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("seal a cookie: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.ciphers[0].Seal(nil, nil, plain, []byte(purpose))), nil //nolint:gosec // this cipher chooses its nonces itself
}

// maxSealed is the length of the longest cookie that is opened.
const maxSealed = 4096

// open reports whether text is what seal returned for the purpose. Everything else that a browser may send is no error.
func (s sealer) open(purpose, text string, into any) bool {
	if len(text) > maxSealed {
		return false
	}
	box, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	for _, c := range s.ciphers {
		if plain, err := c.Open(nil, nil, box, []byte(purpose)); err == nil {
			return json.Unmarshal(plain, into) == nil
		}
	}
	return false
}
