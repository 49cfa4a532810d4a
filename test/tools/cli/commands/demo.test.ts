import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { catalogue, eventNames } from '../../../../lambda/events/catalogue.ts';
import type { EffectName } from '../../../../lambda/events/definition.ts';
import { type Ended, Project } from './project.ts';

let project: Project;
let demo: Ended;

beforeAll(async () => {
  project = await Project.create();
  demo = await project.spawn(['npm', 'run', 'demo']).ended;
});

afterAll(() => project.remove());

const effects: Record<EffectName, string> = {
  'shop-cache': 'ShopCacheTable: ',
  cast: 'CastTable: ',
  'contact-partner': 'ContactPartnerTable: ',
  chat: 'notification: ',
  review: 'notification: ',
};

test.each(eventNames)('npm run demo shows the answer to %s, and its effect', (event) => {
  expect(demo.code).toBe(0);
  const row = demo.stdout.split('\n').find((line) => line.startsWith(`${event} `));
  expect(row).toContain('200 queued');
  expect(row).toContain(effects[catalogue[event].effect]);
});
