import { httpApiEvent } from 'local-aws/gateway';
import { readSamples } from '../../events/samples.ts';
import { LOCAL_SECRET, signatureOf } from '../../events/signing.ts';
import { SAMPLE_REQUEST_ID, sqsEvent } from '../../events/sqs-event.ts';
import type { EventName } from '../../lambda/events/catalogue.ts';
import { WEBHOOK_PATH } from '../../lambda/events/webhook-path.ts';
import { SIGNATURE_HEADER } from '../../lambda/receiver/request.ts';

/**
 * The sample of an event as its consumer gets it from the queue, or as the receiver gets it from an HTTP API, signed
 * with the local secret.
 */
export function sampleInvocation(event: EventName, isForReceiver: boolean): object {
  const sample = readSamples().find((one) => one.event === event);
  if (sample === undefined) throw new Error(`events/ has no sample of ${event}`);
  if (!isForReceiver) return sqsEvent(sample);
  const body = JSON.stringify(sample.payload);
  return httpApiEvent(
    {
      method: 'POST',
      path: WEBHOOK_PATH,
      headers: [
        ['content-type', 'application/json'],
        [SIGNATURE_HEADER, signatureOf({ body: Buffer.from(body), secret: LOCAL_SECRET })],
      ],
      body,
      isBase64Encoded: false,
      sourceIp: '127.0.0.1',
      receivedAt: new Date(String(sample.payload.timestamp)),
      requestId: SAMPLE_REQUEST_ID,
    },
    { accountId: '000000000000', apiId: 'local', domainName: 'localhost' },
  );
}
