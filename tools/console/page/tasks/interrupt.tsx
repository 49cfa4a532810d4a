import { useState } from 'preact/hooks';
import { Button } from '../shared/button.tsx';
import { useConsole } from '../shell/context.ts';

/** Ends a command as Ctrl-C does: it says itself what it has left, and nothing is half done. */
export function Interrupt({ id }: { id: string }) {
  const { api } = useConsole();
  const [asked, setAsked] = useState(false);
  return (
    <Button
      disabled={asked}
      onClick={() => {
        setAsked(true);
        api.delete(`/api/tasks/${encodeURIComponent(id)}`).catch(() => setAsked(false));
      }}
    >
      Interrupt
    </Button>
  );
}
