import type * as z from 'zod/mini';
import { girlCreated } from './girl-created/schema.ts';
import { girlDeleted } from './girl-deleted/schema.ts';
import { girlScheduleChanged } from './girl-schedule-changed/schema.ts';
import { reviewPosted } from './review-posted/schema.ts';
import { shopUpdated } from './shop-updated/schema.ts';
import { userUpdated } from './user-updated/schema.ts';

/** What a consumer may touch. `lib/pipeline/effects.ts` gives each one its permissions and environment. */
export type EffectName = 'shop-cache' | 'cast' | 'contact-partner' | 'chat' | 'review';

export interface EventDefinition {
  /** What happened at the partner: the contract's words. */
  readonly meaning: string;
  /** What we do about it: the contract's words. */
  readonly processing: string;
  /** What the consumer touches; its permissions follow from it. */
  readonly effect: EffectName;
  /** What users lose while this event is not processed: the first sentence of its alarms. */
  readonly impact: string;
  /** The shape of `data`. */
  readonly data: z.ZodMiniType<object>;
}

/**
 * Every event of the contract. An entry here, with its schema, its consumer file and its sample, is
 * all that an event takes: its queues, function, permissions, alarms and local run follow from it.
 */
export const catalogue = {
  'shop.updated': {
    meaning: 'Shop information was updated',
    processing: 'Invalidate the shop cache',
    effect: 'shop-cache',
    impact: 'Readers go on seeing a shop as it was before its update.',
    data: shopUpdated,
  },
  'girl.schedule_changed': {
    meaning: 'Staff schedule changed',
    processing: 'Send a notification to the chat room',
    effect: 'chat',
    impact: 'Schedules change and the chat room is not told.',
    data: girlScheduleChanged,
  },
  'girl.created': {
    meaning: 'Staff member added',
    processing: 'Synchronise the cast',
    effect: 'cast',
    impact: 'New staff members are missing from the cast list.',
    data: girlCreated,
  },
  'girl.deleted': {
    meaning: 'Staff member removed',
    processing: 'Synchronise the cast',
    effect: 'cast',
    impact: 'Staff members who left are still on the cast list.',
    data: girlDeleted,
  },
  'review.posted': {
    meaning: 'Review posted',
    processing: 'Send a review notification',
    effect: 'review',
    impact: 'Reviews are posted and nobody is told.',
    data: reviewPosted,
  },
  'user.updated': {
    meaning: 'User information updated',
    processing: 'Update the contact_partner record',
    effect: 'contact-partner',
    impact: 'Partner contacts keep an old name, picture or shop.',
    data: userUpdated,
  },
} as const satisfies Record<string, EventDefinition>;

export type EventName = keyof typeof catalogue;

export type EventData<Name extends EventName> = z.infer<(typeof catalogue)[Name]['data']>;

export const eventNames = Object.keys(catalogue) as EventName[];

/** Own keys only, so that `constructor` and `__proto__` are unknown kinds like any other. */
export function isEventName(name: string): name is EventName {
  return Object.hasOwn(catalogue, name);
}

/** Whether an event tells people, through SNS. */
export function isNotification(event: EventName): boolean {
  const effect: EffectName = catalogue[event].effect;
  return effect === 'chat' || effect === 'review';
}
