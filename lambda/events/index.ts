// Written by `npm run generate` from the folders next to it, in the order of their samples' timestamps.
// biome-ignore-all format: generated
// biome-ignore-all assist/source/organizeImports: generated
import { event as shopUpdated } from './shop-updated/event.ts';
import { event as girlScheduleChanged } from './girl-schedule-changed/event.ts';
import { event as girlCreated } from './girl-created/event.ts';
import { event as girlDeleted } from './girl-deleted/event.ts';
import { event as reviewPosted } from './review-posted/event.ts';
import { event as userUpdated } from './user-updated/event.ts';

export const events = {
  'shop.updated': shopUpdated,
  'girl.schedule_changed': girlScheduleChanged,
  'girl.created': girlCreated,
  'girl.deleted': girlDeleted,
  'review.posted': reviewPosted,
  'user.updated': userUpdated,
} as const;
