import { signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { DEFAULT_RATE } from '../../../stage/replay/limits.ts';
import { stack, tasks } from '../store.ts';
import { TaskOutput } from '../task-dock.tsx';
import { Button } from '../ui/button.tsx';
import { CheckBox, Field, type FieldProps } from '../ui/field.tsx';
import { MomentField, timeOf } from '../ui/moment-field.tsx';
import { utcText } from '../ui/time.tsx';
import { useRun } from '../use-run.tsx';
import { emptyForm, formProblems, isPlanOf, planArguments, type ReplayForm, sinceOf } from './replay-form.ts';

const MODES = [
  {
    mode: 'fill',
    title: 'Fill',
    text: 'Processes the events as if the partner sent them again. Up-to-date items do not change.',
  },
  {
    mode: 'repair',
    title: 'Repair',
    text: 'Rewrites items from their newest events. Use it after a bug wrote wrong items.',
  },
] as const;

// Kept in the module, so that the input survives a visit to another view.
const form = signal<ReplayForm>(emptyForm);
const planId = signal<string | undefined>(undefined);
const replayId = signal<string | undefined>(undefined);

const change = (changed: Partial<ReplayForm>) => {
  form.value = { ...form.value, ...changed };
};

export function ReplayView() {
  const { start, busy, refusal } = useRun();
  const plan = tasks.value.find(({ id }) => id === planId.value);
  const replay = tasks.value.find(({ id }) => id === replayId.value);
  const isCurrent = plan !== undefined && isPlanOf(plan.argv, form.value);
  const shown = replay ?? plan;
  const isRunning = shown?.state === 'running';
  const title = replay === undefined ? 'Plan' : 'Replay';
  /**
   * The command to run next: the plan that is shown or, after an interrupted or failed replay, the rest of
   * it.
   */
  const next = isRunning ? undefined : shown?.planned;
  const isChanged = replay === undefined && !isCurrent;

  const showPlan = async () => {
    const begun = await start([
      {
        argv: planArguments(form.value),
        does: 'Reads the archive and shows the plan.',
        reads: true,
      },
    ]);
    if (begun === undefined) return;
    planId.value = begun[0]?.id;
    replayId.value = undefined;
  };
  const sendPlanned = async (argv: readonly string[]) => {
    const begun = await start([
      {
        argv,
        does:
          replay === undefined ? 'Sends the events of the plan once more.' : 'Sends the rest of the replay.',
      },
    ]);
    if (begun !== undefined) replayId.value = begun[0]?.id;
  };

  return (
    <div class="page">
      <div class="stack replay">
        <form
          class="stack"
          aria-label="Replay"
          onSubmit={(submit) => {
            submit.preventDefault();
            const wrong = submit.currentTarget.querySelector<HTMLElement>('[aria-invalid="true"]');
            if (wrong !== null) focusField(wrong);
            else if (refusal === undefined && !busy && !isRunning) showPlan();
          }}
        >
          <p class="soft">Sends archived events to their queues again. The plan sends nothing.</p>
          <Fields />
          <div class="row">
            <Button
              kind={next === undefined || isChanged ? 'primary' : 'normal'}
              type="submit"
              refusal={refusal}
              busy={busy || isRunning}
            >
              Show plan
            </Button>
          </div>
        </form>
        {shown !== undefined && (
          <section class="card" aria-label={title}>
            <h2 class="visually-hidden">{title}</h2>
            {/* A replay prints its plan first, so the output of a replay also contains a plan. */}
            <TaskOutput key={shown.id} task={shown}>
              {next !== undefined && (
                <Button
                  kind="primary"
                  refusal={refusal ?? (isChanged ? 'The form has changed. Show its plan first.' : undefined)}
                  busy={busy}
                  onClick={() => sendPlanned(next)}
                >
                  {replay === undefined ? 'Replay' : 'Continue'}
                </Button>
              )}
            </TaskOutput>
          </section>
        )}
      </div>
    </div>
  );
}

function focusField(field: HTMLElement): void {
  const options = field.closest('details');
  if (options !== null) options.open = true;
  field.focus();
}

interface TextFieldProps extends Omit<FieldProps, 'value' | 'onInput'> {
  name: 'shop' | 'ids' | 'rate' | 'name';
}

const TextField = (props: TextFieldProps) => (
  <Field
    {...props}
    value={form.value[props.name]}
    problem={formProblems(form.value, Date.now())[props.name]}
    onInput={(text) => change({ [props.name]: text })}
  />
);

type WindowChoices = readonly (readonly [value: string, label: string])[];

const SINCE_CHOICES: WindowChoices = [
  ['1h', 'Last hour'],
  ['24h', '24 hours'],
  ['7d', '7 days'],
];
const UNTIL_CHOICES: WindowChoices = [['', 'Now']];

interface WindowFieldProps {
  name: 'since' | 'until';
  label: string;
  choices: WindowChoices;
  required?: boolean;
  /** Text below an empty field. Below a filled field is the time in UTC. */
  ifEmpty: string;
}

/**
 * A start or an end of the window: a relative time from a menu, or a local time. The time in UTC is shown
 * below it.
 */
function WindowField({ name, label, choices, required, ifEmpty }: WindowFieldProps) {
  const id = useId();
  const value = name === 'since' ? sinceOf(form.value) : form.value.until;
  const set = (next: string) => change({ [name]: next });
  const now = Date.now();
  const problem = formProblems(form.value, now)[name];
  const time = timeOf(value, now);
  const utc = time === undefined ? ifEmpty : utcText(`${new Date(time).toISOString().slice(0, 19)}Z`);
  return (
    <div class="form-row stack">
      <div class="row window">
        <MomentField
          class="form-row stack"
          label={label}
          value={value}
          onChange={set}
          {...(required && { required })}
          describedBy={id}
          isInvalid={problem !== undefined}
        />
        <fieldset class="segments" aria-label={`${label}: quick choices`}>
          {choices.map(([choice, text]) => (
            <button key={choice} type="button" aria-pressed={value === choice} onClick={() => set(choice)}>
              {text}
            </button>
          ))}
        </fieldset>
      </div>
      <p id={id} class={problem === undefined ? 'hint soft' : 'hint bad'}>
        {problem ?? utc}
      </p>
    </div>
  );
}

/** The fields of the form, the most used first. The command validates them. */
function Fields() {
  const id = useId();
  const { events, mode, notify, name } = form.value;
  const toggle = (event: string, on: boolean) =>
    change({
      events: stack.events
        .map((one) => one.name)
        .filter((one) => (one === event ? on : events.includes(one))),
    });
  return (
    <>
      <div class="columns">
        <WindowField
          name="since"
          label="Since"
          choices={SINCE_CHOICES}
          required={name.trim() === ''}
          ifEmpty="Leave this empty to continue the replay with this name. For a new replay, choose a time."
        />
        <WindowField
          name="until"
          label="Until"
          choices={UNTIL_CHOICES}
          ifEmpty="Default: the time when you show the plan"
        />
      </div>
      <fieldset>
        <legend>Events</legend>
        <div class="row checks">
          {stack.events.map(({ name: event }) => (
            <CheckBox key={event} checked={events.includes(event)} onChange={(on) => toggle(event, on)}>
              {event}
            </CheckBox>
          ))}
        </div>
        <p class="hint soft">
          {events.length === 0
            ? 'Default: all events'
            : `Selected: ${events.length} of ${stack.events.length}`}
        </p>
      </fieldset>
      <fieldset>
        <legend>Mode</legend>
        <div class="columns">
          {MODES.map((one) => (
            <label key={one.mode} class="check mode">
              <input
                type="radio"
                name={`${id}-mode`}
                checked={mode === one.mode}
                onChange={() => change({ mode: one.mode })}
              />
              <span>
                <b>{one.title}</b>
                <span class="soft">{one.text}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <CheckBox checked={notify} onChange={(on) => change({ notify: on })}>
        Send notifications again
      </CheckBox>
      <details>
        <summary>More options</summary>
        <div class="columns">
          <TextField name="shop" label="Shop id" hint="Default: all shops" />
          <TextField name="ids" label="Event or request ids" hint="One per line. Default: all" lines={3} />
          <TextField
            name="rate"
            label="Messages per second"
            hint={`Default: ${DEFAULT_RATE}, or the rate of the continued replay`}
          />
          <TextField
            name="name"
            label="Name"
            hint="Of a new replay, or of the one to continue. Default: mode and time"
          />
        </div>
      </details>
    </>
  );
}
