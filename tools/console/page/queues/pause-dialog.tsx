import { useId, useState } from 'preact/hooks';
import { Button } from '../shared/button.tsx';
import { Dialog } from '../shared/dialog.tsx';

/** Characters that `npm run pause` takes of a reason: `LONGEST_REASON` of tools/stage/queues/pause-state.ts. */
const LONGEST_REASON = 400;

interface PauseDialogProps {
  event: string;
  onClose: () => void;
  onPause: (reason: string) => void;
}

/** Asks why: whoever gets the alarm's mail reads it. */
export function PauseDialog({ event, onClose, onPause }: PauseDialogProps) {
  const [reason, setReason] = useState('');
  const id = useId();
  const text = reason.trim();
  return (
    <Dialog
      title={`Pause ${event}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={`${id}-form`} disabled={text === ''}>
            Pause {event}
          </Button>
        </>
      }
    >
      <form
        id={`${id}-form`}
        class="stack"
        onSubmit={(submit) => {
          submit.preventDefault();
          if (text !== '') onPause(text);
        }}
      >
        <p>
          Deliveries are still accepted, and wait on the queue until it is resumed; nothing is lost for seven
          days. One alarm says who paused it, and why.
        </p>
        <div class="form-row">
          <label for={id}>Why</label>
          <input
            id={id}
            class="field"
            value={reason}
            maxLength={LONGEST_REASON}
            placeholder="The chat service is down until noon"
            autoComplete="off"
            aria-describedby={`${id}-hint`}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
          <p id={`${id}-hint`} class="hint soft">
            One line, for whoever gets the alarm’s mail.
          </p>
        </div>
      </form>
    </Dialog>
  );
}
