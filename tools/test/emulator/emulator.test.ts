import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { leadToEmulator } from './emulator.ts';

test.each([
  [
    'of a REST API leads to the emulator',
    'https://6af162dc.execute-api.us-east-1.amazonaws.com/live/api/v1/webhooks/partner',
    'https://6af162dc.execute-api.localhost:4567/live/api/v1/webhooks/partner',
  ],
  [
    'of an HTTP API, which leads there, is left as it is',
    'https://68682ec0.execute-api.localhost:4567/api/v1/webhooks/partner',
    'https://68682ec0.execute-api.localhost:4567/api/v1/webhooks/partner',
  ],
])('an address %s', (_, address, expected) => {
  const folder = mkdtempSync(join(tmpdir(), 'lead-to-emulator-'));
  try {
    const file = join(folder, 'outputs.json');
    writeFileSync(file, JSON.stringify({ stack: { WebhookUrl: address, ChatTopicArn: 'arn:aws:sns:…' } }));
    leadToEmulator(file, 'https://localhost:4567');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      stack: { WebhookUrl: expected, ChatTopicArn: 'arn:aws:sns:…' },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
