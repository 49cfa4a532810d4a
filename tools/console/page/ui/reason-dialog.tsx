import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { MAX_PAUSE_REASON_LENGTH } from '../../../../lambda/limits.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';

interface ReasonDialogProps {
  title: string;
  text: string;
  action: string;
  onReason: (reason: string) => void;
  onClose: () => void;
}

/** Asks for the reason of an action, which others will read. */
export function ReasonDialog({ title, text, action, onReason, onClose }: ReasonDialogProps) {
  const typed = useSignal('');
  const id = useId();
  const reason = typed.value.trim();
  const isAsked = useSignal(false);
  const tooLong =
    reason.length > MAX_PAUSE_REASON_LENGTH ? `At most ${MAX_PAUSE_REASON_LENGTH} characters` : undefined;
  const refusal = reason === '' ? 'Type a reason.' : tooLong;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={id} refusal={refusal}>
            {action}
          </Button>
        </>
      }
    >
      <form
        id={id}
        class="stack"
        // A refused button does not submit the form, so Enter in the field shows what is missing.
        onKeyDown={({ key }) => {
          isAsked.value = key === 'Enter';
        }}
        onSubmit={(submit) => {
          submit.preventDefault();
          onReason(reason);
          onClose();
        }}
      >
        <p>{text}</p>
        <Field
          name="reason"
          label="Reason"
          hint="One line"
          placeholder="The chat service is down until noon"
          problem={isAsked.value ? refusal : tooLong}
          value={typed.value}
          onInput={(next) => {
            typed.value = next;
          }}
        />
      </form>
    </Dialog>
  );
}
