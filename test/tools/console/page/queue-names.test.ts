import { describe, expect, test } from '@jest/globals';
import { callerName, deadName, namedQueue } from '../../../../tools/console/page/queues/queue-names.ts';

describe('the name of a queue', () => {
  test.each([
    ['shop.updated', { event: 'shop.updated', isDead: false }],
    ['dead:shop.updated', { event: 'shop.updated', isDead: true }],
    ['quarantine', { event: undefined, isDead: false }],
    ['unrouted', { event: undefined, isDead: false }],
  ])('%s', (name, queue) => expect(namedQueue(name)).toEqual(queue));

  test('of dead letters leads back to them', () => {
    expect(namedQueue(deadName('girl.created'))).toEqual({ event: 'girl.created', isDead: true });
  });
});

test.each([
  ['arn:aws:sts::123456789012:assumed-role/Operator/mara', 'mara'],
  ['arn:aws:iam::123456789012:root', 'arn:aws:iam::123456789012:root'],
  ['nobody/', 'nobody/'],
])('%s is called %s', (arn, name) => expect(callerName(arn)).toBe(name));
