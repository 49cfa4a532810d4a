"""Posts one event with the client that openapi-python-client generates from docs/api/openapi.json.

It prints the status of the answer.
"""

import hashlib
import hmac
import os
from datetime import datetime, timezone

import httpx
from generated import Client
from generated.api.endpoint import receive_event
from generated.models import Accepted, ShopUpdated, ShopUpdatedData


def sign(request: httpx.Request) -> None:
    """Computes the signature over the bytes that the generated client sends."""
    secret = os.environ["WEBHOOK_SECRET"].encode()
    request.headers["X-Webhook-Signature"] = hmac.new(secret, request.content, hashlib.sha256).hexdigest()


event = ShopUpdated(
    event="shop.updated",
    data=ShopUpdatedData(shop_id="shop-of-a-python-client"),
    timestamp=datetime.now(timezone.utc).isoformat(),
)
client = Client(base_url=os.environ["ORIGIN"], httpx_args={"event_hooks": {"request": [sign]}})
answer = receive_event.sync_detailed(client=client, body=event, x_webhook_signature="")
if not isinstance(answer.parsed, Accepted):
    raise SystemExit(f"{answer.status_code} {answer.content!r}")
print(answer.status_code.value, answer.parsed.status.value)
