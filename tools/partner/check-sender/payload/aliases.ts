import { isSlipOf } from '../../../../lib/nearest.ts';

/** Fields of ours, and what other services call them. */
export const ALIASES: Readonly<Record<string, readonly string[]>> = {
  event: ['type', 'event_type', 'eventType', 'event_name', 'eventName', 'kind', 'topic', 'action', 'name'],
  data: ['payload', 'body', 'object', 'attributes', 'resource', 'content', 'event_data'],
  timestamp: [
    'time',
    'created_at',
    'createdAt',
    'occurred_at',
    'occurredAt',
    'date',
    'ts',
    'sent_at',
    'datetime',
  ],
  girl_id: ['cast_id', 'castId', 'staff_id', 'staffId', 'member_id', 'memberId'],
  shop_id: ['store_id', 'storeId'],
  review_id: ['id'],
  rating: ['stars', 'score'],
  comment: ['text', 'message'],
  updated_fields: ['changed_fields', 'changedFields'],
  display_name: ['nickname'],
  profile_image_url: ['image_url', 'imageUrl', 'avatar_url', 'avatarUrl', 'avatar'],
};

/** Letters of a field's name from which another letter makes no other word of it: `game` is not `name`. */
const FEWEST_LETTERS = 6;

/** Whether a key that we do not know is one of our fields, written with a slip. */
export const isMeantAs = (key: string, field: string) =>
  isSlipOf(key, field, field.length < FEWEST_LETTERS ? 0 : 1);
