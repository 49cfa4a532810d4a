#!/usr/bin/env bash
# Signs the bytes on standard input and posts them as a webhook delivery. Without an address it prints the signature.
#
#   WEBHOOK_SECRET=... bash sign-and-post.sh https://.../api/v1/webhooks/partner < event.json
set -euo pipefail

# How long to wait for the answer, in seconds: API Gateway gives up after 30.
timeout=35

# Prints the value of X-Webhook-Signature for the bytes of a file. While openssl runs, the list of processes shows the
# secret: on a machine that others use, take one of the other languages.
sign() {
  openssl dgst -sha256 -hmac "$1" -r <"$2" | cut -d ' ' -f 1
}

# Prints the status and the body of the answer. $(...) would drop NULs and the line feed at the end: so bytes stay in files.
# Without --proto curl reads files, too.
post() {
  local url=$1 secret=$2 body=$3 status
  status=$(curl --silent --show-error --proto =http,https --max-time "$timeout" --output "$folder/answer" --write-out '%{http_code}' \
    --header 'Content-Type: application/json' --header "X-Webhook-Signature: $(sign "$secret" "$body")" \
    --data-binary "@$body" -- "$url") || return
  echo "$status $(cat "$folder/answer")"
  [ "$status" = 200 ]
}

if [ -z "${WEBHOOK_SECRET:-}" ]; then
  echo 'WEBHOOK_SECRET is not set' >&2
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/body"

if [ $# = 0 ]; then
  sign "$WEBHOOK_SECRET" "$folder/body"
else
  post "$1" "$WEBHOOK_SECRET" "$folder/body" || exit 1
fi
