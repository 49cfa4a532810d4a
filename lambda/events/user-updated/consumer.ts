import { consume } from '../../consumer/consume.ts';
import { ContactPartner } from '../../effects/contact-partner.ts';

const contacts = ContactPartner.fromEnvironment();

/** user.updated: updates the contact_partner record. */
export const handler = consume('user.updated', ({ data, receivedAt, version, replay }) => {
  const { user_id: userId, ...fields } = data;
  return contacts.update({ userId, fields, at: receivedAt, version, replay });
});
