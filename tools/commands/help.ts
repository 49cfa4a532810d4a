/** What `--help` prints, by the command. */
export const help: Readonly<Record<string, string>> = {
  start: `Usage: npm start -- [--port PORT] [--aws-port PORT] [--secret SECRET]

Synthesises the stack and runs it here until Ctrl-C.

  --port PORT      of the webhook; 0 for any free one (PORT, by default 3000)
  --aws-port PORT  of the AWS endpoint; 0 for any free one (AWS_PORT, by default 4566)
  --secret SECRET  that deliveries are signed with (WEBHOOK_SECRET, by default local-webhook-secret)`,
  send: `Usage: npm run send -- EVENT | --file FILE [--url URL] [--secret SECRET] [--count N] [--encoding hex|base64] [--bad-signature]

Signs a sample event and posts it.

  --file FILE      posts the bytes of a file instead of a sample
  --url URL        by default the webhook of the stack that npm start runs
  --secret SECRET  to sign with (WEBHOOK_SECRET, by default local-webhook-secret)
  --count N        deliveries, each a millisecond newer than the one before
  --encoding       of the signature: hex (by default) or base64
  --bad-signature  signs with another secret; 401 is then what is expected`,
  invoke: `Usage: npm run invoke -- FUNCTION EVENT-FILE

Runs one function of the stack that npm start runs, with its environment and rights.

  npm run invoke -- receiver events/api-gateway/shop-updated.json`,
  demo: `Usage: npm run demo

Starts a stack of its own, sends every sample, and shows what each came to.`,
  dlq: `Usage: npm run dlq -- list | show QUEUE | redrive QUEUE | export QUEUE [--stage STAGE | --outputs FILE]

What could not be processed. QUEUE is an event, quarantine or unrouted.

  --stage STAGE    a deployed stage; by default the stack that npm start runs
  --outputs FILE   the stack that cdk deploy --outputs-file wrote of
  show             --limit N, --payload: prints what the partner sent, which is personal data
  redrive          --rate N: messages a second; --id ID: only that message, repeatable
  export           --output FILE`,
};
