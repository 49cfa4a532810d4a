import { consume } from '../../consumer/consume.ts';
import { ContactPartner } from '../../effects/contact-partner.ts';

const contacts = ContactPartner.fromEnvironment();

export const handler = consume('user.updated', ({ data, receivedAt, version, replay }) => {
  const { user_id: userId, ...fields } = data;
  return contacts.update({ userId, fields, at: receivedAt, version, replay });
});
