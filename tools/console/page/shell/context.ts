import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { StackInfo } from '../../api.ts';
import type { ApiClient } from '../api-client.ts';
import type { LiveStore } from '../stream/live-store.ts';

/** What every view needs. */
export interface Console {
  readonly api: ApiClient;
  readonly stack: StackInfo;
  /** Deliveries, tasks and notices, as the stream tells of them. */
  readonly live: LiveStore;
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const value = useContext(ConsoleContext);
  if (value === undefined) throw new Error('A view stands outside of the console');
  return value;
}
