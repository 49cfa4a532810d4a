<?php

// Signs the bytes on standard input and posts them as a webhook delivery. Without an address it prints the signature.
//
//   WEBHOOK_SECRET=... php sign-and-post.php https://.../api/v1/webhooks/partner < event.json

declare(strict_types=1);

/** How long to wait for the answer, in seconds: API Gateway gives up after 30. */
const TIMEOUT = 35;

/**
 * The value of X-Webhook-Signature.
 *
 * @param string $secret in UTF-8: its bytes are the key
 * @param string $body   the very bytes that are sent
 */
function sign(string $secret, string $body): string
{
    return hash_hmac('sha256', $body, $secret);
}

/**
 * @return array{int, string} status and text of the answer
 */
function post(string $url, string $secret, string $body): array
{
    $curl = curl_init($url);
    curl_setopt_array($curl, [
        CURLOPT_POSTFIELDS => $body,
        CURLOPT_HTTPHEADER => [
            'Content-Type: application/json',
            'X-Webhook-Signature: ' . sign($secret, $body),
        ],
        CURLOPT_RETURNTRANSFER => true,
        // curl reads files, too.
        CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
        CURLOPT_TIMEOUT => TIMEOUT,
    ]);
    $answer = curl_exec($curl);
    if ($answer === false) {
        throw new RuntimeException(curl_error($curl));
    }

    return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $answer];
}

$url = $argv[1] ?? null;
$secret = getenv('WEBHOOK_SECRET');
if ($secret === false || $secret === '') {
    fwrite(STDERR, "WEBHOOK_SECRET is not set\n");
    exit(1);
}
$body = stream_get_contents(STDIN);

if ($url === null) {
    echo sign($secret, $body), "\n";
    exit(0);
}
try {
    [$status, $answer] = post($url, $secret, $body);
} catch (RuntimeException $error) {
    fwrite(STDERR, "No answer: {$error->getMessage()}\n");
    exit(1);
}
echo "$status $answer\n";
exit($status === 200 ? 0 : 1);
