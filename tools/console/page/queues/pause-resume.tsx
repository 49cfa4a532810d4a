import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { MAX_PAUSE_REASON_LENGTH } from '../../../../lambda/limits.ts';
import type { EventQueueInfo } from '../../api.ts';
import type { Command } from '../command.ts';
import { tasks } from '../store.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { useRun } from '../use-run.tsx';

interface PauseOrResumeProps {
  queue: EventQueueInfo;
  /** Whether the state is unknown. Then both actions are offered. */
  isUnknown: boolean;
  /** Called to open the dialog that asks for the reason of a pause. */
  onPause: () => void;
}

export function PauseOrResume({ queue: { event, paused }, isUnknown, onPause }: PauseOrResumeProps) {
  const { start, ...state } = useRun();
  const change = changeUnderWay(event);
  const common = { ...state, refusal: state.refusal ?? change?.refusal };
  // One button that changes its meaning, so that it keeps the focus when the state changes.
  const actions = isUnknown ? PAUSE_AND_RESUME : [paused === undefined ? PAUSE : RESUME];
  return (
    <>
      {actions.map((action, index) => (
        <Button
          key={index}
          {...common}
          kind={action === PAUSE ? 'quiet' : 'normal'}
          label={`${change?.label ?? action} ${event}`}
          onClick={() => (action === PAUSE ? onPause() : start([resumeCommand(event)]))}
        >
          {change?.label ?? action}
        </Button>
      ))}
    </>
  );
}

const PAUSE = 'Pause';
const RESUME = 'Resume';
const PAUSE_AND_RESUME = [PAUSE, RESUME];

/**
 * The command that is now pausing or resuming the event. While the command runs, the server accepts no second command.
 */
export function changeUnderWay(event: string): { label: string; refusal: string } | undefined {
  const task = tasks.value.find(
    ({ state, argv: [script = '', name] }) =>
      state === 'running' && ['pause', 'resume'].includes(script) && name === event,
  );
  if (task === undefined) return undefined;
  const label = task.argv[0] === 'pause' ? 'Pausing …' : 'Resuming …';
  return { label, refusal: 'This takes some seconds. Wait until it has ended.' };
}

const pauseCommand = (event: string, reason: string): Command => ({
  argv: ['pause', event, '--reason', reason],
  does: `Stops the processing of ${event}. Its deliveries wait on the queue, and one alarm says who paused it and why.`,
  did: `Paused ${event}.`,
});

export const resumeCommand = (event: string): Command => ({
  argv: ['resume', event],
  does: `Starts the processing of ${event} again. Waiting messages are processed.`,
  did: `Resumed ${event}.`,
});

/** Dialog that asks for the reason and then pauses the event. */
export function PauseDialog({ event, onClose }: { event: string; onClose: () => void }) {
  const { start } = useRun();
  const reason = useSignal('');
  const id = useId();
  const text = reason.value.trim();
  const isAsked = useSignal(false);
  const tooLong =
    text.length > MAX_PAUSE_REASON_LENGTH ? `At most ${MAX_PAUSE_REASON_LENGTH} characters` : undefined;
  const refusal = text === '' ? 'Type a reason.' : tooLong;
  return (
    <Dialog
      title={`Pause ${event}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={id} refusal={refusal}>
            Pause {event}
          </Button>
        </>
      }
    >
      <form
        id={id}
        class="stack"
        // A refused button does not submit the form, so Enter in the field shows the reason.
        onKeyDown={({ key }) => {
          isAsked.value = key === 'Enter';
        }}
        onSubmit={(submit) => {
          submit.preventDefault();
          start([pauseCommand(event, text)]);
          onClose();
        }}
      >
        <p>
          Deliveries are still accepted and wait on the queue until you resume it, for up to seven days. An
          alarm says who paused it and why.
        </p>
        <Field
          name="reason"
          label="Reason"
          hint="One line. It is in the alarm’s email."
          placeholder="The chat service is down until noon"
          problem={isAsked.value ? refusal : tooLong}
          value={reason.value}
          onInput={(typed) => {
            reason.value = typed;
          }}
        />
      </form>
    </Dialog>
  );
}
