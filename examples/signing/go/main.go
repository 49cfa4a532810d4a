// Sign-and-post signs the bytes on standard input and posts them as a webhook delivery:
//
//	WEBHOOK_SECRET=... go run . https://.../api/v1/webhooks/partner < event.json
//
// Without an address it prints the signature.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

var client = &http.Client{
	// API Gateway gives up after 30 seconds.
	Timeout: 35 * time.Second,
	// A redirect may turn a POST into a GET, whose 200 would mean nothing.
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// sign returns the value of X-Webhook-Signature. The key is the secret in UTF-8, body the very bytes that are sent.
func sign(secret, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// post returns the status and the body of the answer.
func post(url string, secret, body []byte) (int, []byte, error) {
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Webhook-Signature", sign(secret, body))
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// run returns whether the delivery was accepted, or the signature printed.
func run() (bool, error) {
	secret := []byte(os.Getenv("WEBHOOK_SECRET"))
	if len(secret) == 0 {
		return false, errors.New("WEBHOOK_SECRET is not set")
	}
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		return false, err
	}
	if len(os.Args) < 2 {
		fmt.Println(sign(secret, body))
		return true, nil
	}
	status, answer, err := post(os.Args[1], secret, body)
	if err != nil {
		return false, fmt.Errorf("no answer: %w", err)
	}
	fmt.Printf("%d %s\n", status, answer)
	return status == http.StatusOK, nil
}

func main() {
	accepted, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if !accepted {
		os.Exit(1)
	}
}
