/** What a field of `data` holds, for whoever has never seen one; a field that is not here is said by its name. */
const TEXTS: Readonly<Record<string, string>> = {
  shop_id: 'The shop.',
  girl_id: 'The staff member.',
  user_id: 'The user.',
  review_id: 'The review.',
  name: 'The name of the shop or staff member.',
  updated_fields: 'Names of the fields that have changed.',
  display_name: 'The name of the user, as it is shown to others.',
  profile_image_url: 'Where the picture of the user is.',
  rating: 'What the reviewer gives.',
  comment: 'What the reviewer says.',
};

/** `door_id` → `The door id.` */
export const fieldText = (field: string) => TEXTS[field] ?? `The ${field.replaceAll('_', ' ')}.`;
