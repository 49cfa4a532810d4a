import { consume } from '../../consumer/consume.ts';
import { ContactPartner } from '../../effects/contact-partner.ts';

const contacts = new ContactPartner();

export const handler = consume('user.updated', (event) => {
  const { user_id: userId, ...fields } = event.data;
  return contacts.update({ ...event, userId, fields });
});
