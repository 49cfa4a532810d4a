/** Something wrong, put into a description on purpose. */
export interface Damage {
  readonly what: string;
  /** What a judge says of it. */
  readonly saying: RegExp;
  readonly apply: (document: Damaged) => void;
}

/** A description as far as it is damaged. */
interface Damaged {
  readonly info: { title?: string };
  readonly paths: Readonly<Record<string, { readonly post: Endpoint }>>;
  readonly operations: Readonly<Record<string, { readonly channel: { $ref: string } }>>;
}
interface Endpoint {
  readonly requestBody: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Record<string, unknown>;
}
interface Content {
  readonly examples: Readonly<Record<string, { readonly value: { event: unknown } }>>;
}

const first = <Item>(items: Readonly<Record<string, Item>>): Item => {
  const [item] = Object.values(items);
  if (item === undefined) throw new Error('Nothing to damage');
  return item;
};

const missingTitle: Damage = {
  what: 'that the title is missing',
  saying: /\btitle\b/,
  apply: ({ info }) => {
    delete info.title;
  },
};

/** What each judge of OpenAPI has to find, all in one document. */
export const inOpenApi: readonly Damage[] = [
  missingTitle,
  {
    what: 'a reference to nowhere',
    saying: /resolve \$ref|does not exist/,
    apply: ({ paths }) => {
      first(paths).post.responses['200'] = { $ref: '#/components/responses/Nowhere' };
    },
  },
  {
    what: 'an example that does not fit',
    saying: /must be string/,
    apply: ({ paths }) => {
      first(first(first(paths).post.requestBody.content).examples).value.event = 7;
    },
  },
];

/** What each judge of AsyncAPI has to find. */
export const inAsyncApi: readonly Damage[] = [
  missingTitle,
  {
    what: 'a reference to nowhere',
    saying: /does not exist/,
    apply: ({ operations }) => {
      first(operations).channel.$ref = '#/channels/Nowhere';
    },
  },
];

/** @param document text of JSON */
export function damaged(document: string, damages: readonly Damage[]): string {
  const copy = JSON.parse(document) as Damaged;
  for (const { apply } of damages) apply(copy);
  return JSON.stringify(copy);
}
