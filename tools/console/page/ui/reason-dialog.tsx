import { useId } from 'preact/hooks';
import { MAX_PAUSE_REASON_LENGTH } from '../../../../lambda/limits.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface ReasonDialogProps {
  title: string;
  text: string;
  action: string;
  onReason: (reason: string) => void;
  onClose: () => void;
}

/** Asks for the reason of an action, which others will read. */
export function ReasonDialog({ title, text, action, onReason, onClose }: ReasonDialogProps) {
  const id = useId();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={id}>
            {action}
          </Button>
        </>
      }
    >
      <form
        id={id}
        class="stack"
        onSubmit={(submit) => {
          submit.preventDefault();
          onReason(String(new FormData(submit.currentTarget).get('reason')));
          onClose();
        }}
      >
        <p>{text}</p>
        <label class="labelled">
          Reason, in one line
          <input
            class="field"
            name="reason"
            placeholder="The chat service is down until noon"
            maxLength={MAX_PAUSE_REASON_LENGTH}
            autoComplete="off"
            required
          />
        </label>
      </form>
    </Dialog>
  );
}
