import * as z from 'zod/mini';

/**
 * What a record holds of the partner's. Less is asked of it than of an `ArchiveRecord`: one of an event that has left the
 * catalogue can be forgotten as any other.
 */
const schema = z.looseObject({
  settledAt: z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text)))),
  body: z.optional(z.string()),
  payloadKey: z.optional(z.string()),
});

export type Held = z.infer<typeof schema>;

/** @returns undefined where the line is no record */
export function parseHeld(line: Buffer): Held | undefined {
  try {
    return schema.safeParse(JSON.parse(line.toString())).data;
  } catch {
    return undefined;
  }
}
