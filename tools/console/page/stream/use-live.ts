import { useEffect, useState } from 'preact/hooks';
import { useConsole } from '../shell/context.ts';
import type { LiveState, LiveStore } from './live-store.ts';

export function useLiveState(live: LiveStore): LiveState {
  const [state, setState] = useState(live.state);
  useEffect(() => {
    const update = () => setState(live.state);
    // It may have changed between the render and this.
    update();
    return live.subscribe(update);
  }, [live]);
  return state;
}

/** What the stream tells: the view is drawn anew when it changes. */
export const useLive = (): LiveState => useLiveState(useConsole().live);
