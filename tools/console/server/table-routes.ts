import { itemOf, pageOf } from '../tables.ts';
import { knownOnly } from './delivery-query.ts';
import { badQuery } from './problem.ts';
import { json, type Route } from './route.ts';

export const tableRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/tables/:name',
    handler: async ({ params: { name = '' }, query }, { source: { stage } }) => {
      knownOnly(query, ['key', 'after']);
      const key = query.get('key') ?? '';
      const after = query.get('after') ?? '';
      if (key !== '' && after !== '') throw badQuery('Either key or after, not both');
      if (key === '') return json(await pageOf(stage, name, after || undefined));
      const row = await itemOf(stage, name, key);
      return json({ rows: row === undefined ? [] : [row] });
    },
  },
];
