import { expect, test } from '@jest/globals';
import { Dynalite } from '../../aws/dynamodb/dynalite.ts';

test('an internal error of dynalite is an answer, also to later calls, and the process goes on', async () => {
  const dynalite = new Dynalite();
  // The endpoint refuses this request before dynalite, because `S` must be a text.
  const broken = () => dynalite.call('GetItem', { TableName: 'cast', Key: { S: null } });
  const answer = { code: 'InternalServerError', message: expect.stringContaining('the tables are lost') };
  await expect(Promise.allSettled([broken(), dynalite.call('ListTables', {})])).resolves.toMatchObject([
    { reason: answer },
    {},
  ]);
  await expect(dynalite.call('ListTables', {})).rejects.toMatchObject(answer);
  await dynalite.close();
});
