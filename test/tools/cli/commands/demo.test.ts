import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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

describe('npm run demo', () => {
  test('exits with 0', () => {
    expect(demo).toMatchObject({ code: 0 });
  });

  test.each(eventNames)('shows the answer to %s', (event) => {
    const row = demo.stdout.split('\n').find((line) => line.startsWith(`${event} `));
    expect(row).toContain('200 queued');
  });

  test.each(eventNames)('shows the effect of %s', (event) => {
    const row = demo.stdout.split('\n').find((line) => line.startsWith(`${event} `));
    expect(row).toContain(effects[catalogue[event].effect]);
  });
});
