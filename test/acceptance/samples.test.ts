import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Deployment } from './deployment.ts';
import { eventIdOf } from './partner.ts';
import { sampleDeliveries } from './samples.ts';
import type { Subscriber } from './subscriber.ts';

const samples = sampleDeliveries();

let deployment: Deployment;
let subscribers: Subscriber[];
beforeAll(async () => {
  deployment = await Deployment.connect();
  const { ChatTopicArn, ReviewTopicArn } = deployment.outputs;
  const filter = { eventId: samples.map(({ body }) => eventIdOf(body)) };
  subscribers = [
    await deployment.subscribe(ChatTopicArn, filter, 'samples-chat'),
    await deployment.subscribe(ReviewTopicArn, filter, 'samples-review'),
  ];
});
afterAll(() => deployment?.cleanUp());

test.each(samples)('$event has its effect, as its sample shows it', async ({ body, ids }) => {
  const answer = await deployment.postSample(body, ids);
  expect(answer).toMatchObject({ status: 200, body: { status: 'queued', eventId: eventIdOf(body) } });
  await deployment.effect(eventIdOf(body), ids, subscribers);
});
