import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Faults } from '../../api.ts';
import { type Loaded, useLoad } from '../shared/use-load.ts';
import { REFRESH, useRefresh } from '../shared/use-refresh.ts';
import { useConsole } from '../shell/context.ts';

const FaultsContext = createContext<Loaded<Faults> | undefined>(undefined);

/** What is on, for the view that switches it and for the note at the top of every other. */
export function useFaults(): Loaded<Faults> {
  const value = useContext(FaultsContext);
  if (value === undefined) throw new Error('A view stands outside of the faults');
  return value;
}

const NONE: Faults = { active: [], functions: [] };

export function FaultsProvider({ children }: { children: ComponentChildren }) {
  const { api, stack } = useConsole();
  const faults = useLoad('faults', (signal) =>
    stack.local ? api.get<Faults>('/api/faults', signal) : Promise.resolve(NONE),
  );
  useRefresh(faults, stack.local ? REFRESH : undefined);
  return <FaultsContext.Provider value={faults}>{children}</FaultsContext.Provider>;
}
