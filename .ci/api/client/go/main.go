// Posts one event with the client that oapi-codegen generates from docs/api/openapi.json.
// Prints the status of the answer.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"partner/generated"
)

// sign computes the signature over the bytes that the generated client sends.
func sign(_ context.Context, request *http.Request) error {
	body, err := request.GetBody()
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte(os.Getenv("WEBHOOK_SECRET")))
	if _, err := io.Copy(mac, body); err != nil {
		return err
	}
	request.Header.Set("X-Webhook-Signature", hex.EncodeToString(mac.Sum(nil)))
	return nil
}

func main() {
	partner, err := generated.NewClientWithResponses(os.Getenv("ORIGIN"), generated.WithRequestEditorFn(sign))
	if err != nil {
		log.Fatal(err)
	}
	event := generated.ShopUpdated{
		Event:     generated.ShopUpdatedEventShopUpdated,
		Timestamp: time.Now().UTC().Format(time.RFC3339Nano),
	}
	event.Data.ShopId = "shop-of-a-go-client"
	var body generated.PartnerEvent
	if err := body.FromShopUpdated(event); err != nil {
		log.Fatal(err)
	}
	answer, err := partner.ReceiveEventWithResponse(context.Background(), &generated.ReceiveEventParams{}, body)
	if err != nil {
		log.Fatal(err)
	}
	if answer.JSON200 == nil {
		log.Fatalf("%s %s", answer.Status(), answer.Body)
	}
	fmt.Println(answer.StatusCode(), answer.JSON200.Status)
}
