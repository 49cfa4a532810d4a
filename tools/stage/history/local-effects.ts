import { existsSync } from 'node:fs';
import * as z from 'zod/mini';
import { readJson } from '../../terminal/files.ts';
import { CONSOLE_FILE } from '../local-folder.ts';
import type { Stage } from '../stage.ts';
import type { Effect } from './facts.ts';

/**
 * Asks the console of the local stack.
 * @returns undefined if it does not run
 */
export async function askLocalConsole(path: string): Promise<Response | undefined> {
  if (!existsSync(CONSOLE_FILE)) return undefined;
  const { url } = z.object({ url: z.string() }).parse(readJson(CONSOLE_FILE));
  return fetch(new URL(path, url)).catch(() => undefined);
}

/**
 * What a delivery's event changed. The console of the local stack observes it; AWS keeps no such history.
 * @param requestId id of the delivery
 */
export async function localEffects(
  { local }: Pick<Stage, 'local'>,
  requestId: string | undefined,
): Promise<readonly Effect[]> {
  if (!local || requestId === undefined) return [];
  const detail = await askLocalConsole(`/api/deliveries/${encodeURIComponent(requestId)}`);
  if (!detail?.ok) return [];
  const { effects } = (await detail.json()) as { readonly effects: readonly Effect[] };
  return effects;
}
