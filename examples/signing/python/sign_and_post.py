"""Signs the bytes on standard input and posts them as a webhook delivery.

    WEBHOOK_SECRET=... python3 sign_and_post.py https://.../api/v1/webhooks/partner < event.json

Without an address it prints the signature.
"""

import hashlib
import hmac
import os
import sys
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

# How long to wait for the next bytes of the answer, in seconds: API Gateway gives up after 30.
TIMEOUT = 35


class NoRedirects(HTTPRedirectHandler):
    """A redirect turns a POST into a GET, whose 200 would mean nothing."""

    def redirect_request(self, *_):
        return None


def sign(secret: bytes, body: bytes) -> str:
    """Returns the value of X-Webhook-Signature.

    The key is the secret in UTF-8, the body the very bytes that are sent.
    """
    return hmac.new(secret, body, hashlib.sha256).hexdigest()


def post(url: str, secret: bytes, body: bytes) -> "tuple[int, str]":
    """Returns the status and the text of the answer."""
    # urllib reads files, too.
    if not url.lower().startswith(("http://", "https://")):
        raise ValueError("not an address of HTTP")
    headers = {
        "Content-Type": "application/json",
        "X-Webhook-Signature": sign(secret, body),
    }
    request = Request(url, data=body, headers=headers, method="POST")
    try:
        with build_opener(NoRedirects).open(request, timeout=TIMEOUT) as response:
            return response.status, text_of(response)
    except HTTPError as error:
        with error:
            return error.code, text_of(error)


def text_of(response) -> str:
    """Returns the body as text. What stands in between may answer in any charset."""
    return response.read().decode(errors="backslashreplace")


def main() -> int:
    # Back to the bytes of the environment, which are UTF-8 whatever the locale makes of them.
    secret = os.fsencode(os.environ.get("WEBHOOK_SECRET", ""))
    if not secret:
        sys.exit("WEBHOOK_SECRET is not set")
    body = sys.stdin.buffer.read()

    if len(sys.argv) < 2:
        print(sign(secret, body))
        return 0
    try:
        status, answer = post(sys.argv[1], secret, body)
    except (OSError, ValueError, HTTPException) as error:
        sys.exit(f"No answer: {error}")
    print(status, answer)
    return 0 if status == 200 else 1


if __name__ == "__main__":
    sys.exit(main())
