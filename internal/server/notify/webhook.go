package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/outward"
)

// Headers of a webhook. The signature is HMAC-SHA256 of the timestamp, a dot and the body, in hexadecimal after "sha256=".
// The delivery is the same for each attempt, the timestamp is that of the attempt.
const (
	HeaderDelivery  = "X-Slipway-Delivery"
	HeaderTimestamp = "X-Slipway-Timestamp"
	HeaderSignature = "X-Slipway-Signature"
)

// Sign is the signature of a webhook.
func Sign(key []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// webhook posts signed JSON.
type webhook struct {
	client *http.Client
	now    func() time.Time
}

func (w *webhook) send(ctx context.Context, address string, key []byte, d *api.NotificationDelivery) error {
	body, err := json.Marshal(api.WebhookBody{Delivery: d.ID, Rule: d.Rule, Title: d.Title, Text: d.Text, Event: d.Event})
	if err != nil {
		return fmt.Errorf("write the body: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	timestamp := strconv.FormatInt(w.now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "slipway")
	r.Header.Set(HeaderDelivery, d.ID)
	r.Header.Set(HeaderTimestamp, timestamp)
	r.Header.Set(HeaderSignature, Sign(key, timestamp, body))
	answer, err := w.client.Do(r)
	if err != nil {
		return fmt.Errorf("send to the webhook: %s", outward.Reason(err, errRedirect))
	}
	if err := answer.Body.Close(); err != nil {
		return fmt.Errorf("end the request to the webhook: %w", err)
	}
	if answer.StatusCode >= 300 {
		return fmt.Errorf("the webhook answered with %s", outward.Status(answer.StatusCode))
	}
	return nil
}
