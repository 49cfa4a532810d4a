import { useId } from 'preact/hooks';
import { Field } from '../shared/field.tsx';
import { useConsole } from '../shell/context.ts';
import type { FormProblems, ReplayForm } from './replay-form.ts';

interface ReplayFieldsProps {
  form: ReplayForm;
  problems: FormProblems;
  onChange: (change: Partial<ReplayForm>) => void;
}

const MODES = [
  {
    mode: 'fill',
    title: 'Fill',
    text: 'As if the partner had delivered again: what is up to date stays, what is missing is written.',
  },
  {
    mode: 'repair',
    title: 'Repair',
    text: 'State is written anew by its newest event, so that a wrong row becomes right.',
  },
] as const;

/** What a replay can be told, what is needed most first. */
export function ReplayFields({ form, problems, onChange }: ReplayFieldsProps) {
  const { stack } = useConsole();
  const id = useId();
  const toggle = (name: ReplayForm['events'][number], on: boolean) =>
    onChange({
      events: stack.events
        .map((event) => event.name)
        .filter((event) => (event === name ? on : form.events.includes(event))),
    });
  return (
    <>
      <div class="form-pair">
        <Field
          name="since"
          label="Since"
          hint="24h, 7d or a time"
          value={form.since}
          problem={problems.since}
          onInput={(since) => onChange({ since })}
        />
        <Field
          name="until"
          label="Until"
          hint="Empty: now"
          value={form.until}
          problem={problems.until}
          onInput={(until) => onChange({ until })}
        />
      </div>
      <fieldset class="form-row">
        <legend>Events</legend>
        <div class="checks">
          {stack.events.map(({ name }) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                checked={form.events.includes(name)}
                onChange={({ currentTarget }) => toggle(name, currentTarget.checked)}
              />
              <span>{name}</span>
            </label>
          ))}
        </div>
        <p class="hint soft">None chosen: all of them.</p>
      </fieldset>
      <fieldset class="form-row">
        <legend>Mode</legend>
        <div class="modes">
          {MODES.map(({ mode, title, text }) => (
            <label key={mode} class="mode">
              <input
                type="radio"
                name={`${id}-mode`}
                checked={form.mode === mode}
                onChange={() => onChange({ mode })}
              />
              <span>
                <b class="mode-title">{title}</b>
                <span class="mode-text">{text}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <label class="check">
        <input
          type="checkbox"
          checked={form.notify}
          onChange={({ currentTarget }) => onChange({ notify: currentTarget.checked })}
        />
        <span>
          Tell people again <span class="soft">of what they were told already</span>
        </span>
      </label>
      <details class="more">
        <summary>Only some of them, the pace, a name</summary>
        <div class="stack">
          <div class="form-pair">
            <Field
              name="shop"
              label="Shop"
              hint="Empty: all"
              value={form.shop}
              problem={problems.shop}
              onInput={(shop) => onChange({ shop })}
            />
            <Field
              name="rate"
              label="Messages a second"
              hint="At most"
              value={form.rate}
              problem={problems.rate}
              onInput={(rate) => onChange({ rate })}
            />
          </div>
          <Field
            name="ids"
            label="Event ids"
            hint="One a line; empty: all"
            lines={3}
            value={form.ids}
            problem={problems.ids}
            onInput={(ids) => onChange({ ids })}
          />
          <Field
            name="name"
            label="Name"
            hint="Of a replay that was interrupted, to go on with it; empty: a new one"
            value={form.name}
            problem={problems.name}
            onInput={(name) => onChange({ name })}
          />
        </div>
      </details>
    </>
  );
}
