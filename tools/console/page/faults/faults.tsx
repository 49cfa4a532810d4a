import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import {
  FAULT_SERVICES,
  FAULT_WAYS,
  type FaultService,
  faultTitle,
  type StageFault,
  waysOf,
} from '../../../stage/faults.ts';
import { queues } from '../store.ts';
import { Quantity } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Table } from '../ui/table.tsx';
import { useKeys } from '../use-keys.tsx';
import { useRun } from '../use-run.tsx';

const SERVICES = Object.entries(FAULT_SERVICES) as [FaultService, { name: string; expect: string }][];

/** Milliseconds by which calls of a slow service are delayed. Another delay, or a share of calls: `hookctl fault`. */
const DELAY_MS = '1500';

/** Breaks a service of the local stack, and lists what is broken. */
export function Faults() {
  const { start, busy } = useRun();
  const service = useSignal<FaultService>('dynamodb');
  const chosen = useSignal('down');
  const active = queues.value?.faults ?? [];
  const ways = waysOf(service.value);
  const way = ways.includes(chosen.value) ? chosen.value : 'down';
  const form = useRef<HTMLFormElement>(null);
  useKeys('queues', { b: () => form.current?.querySelector('select')?.focus() });
  const run = (did: string, ...words: readonly string[]) =>
    start([{ argv: ['fault', ...words], does: '', did }]);
  const onSubmit = (submit: Event) => {
    submit.preventDefault();
    const delay = way === 'slow' ? ['--delay', DELAY_MS] : [];
    void run('It is broken until you clear it.', service.value, way, ...delay);
  };
  // A browser does not submit a form by Enter in a select.
  const onKeyDown = ({ key, target }: KeyboardEvent) =>
    key === 'Enter' && target instanceof HTMLSelectElement && target.form?.requestSubmit();
  return (
    <section class="stack" aria-labelledby="faults">
      <h2 id="faults">Faults</h2>
      <form ref={form} class="row" onSubmit={onSubmit} onKeyDown={onKeyDown}>
        <Select
          label="Break"
          value={service.value}
          onChange={(value) => {
            service.value = value;
          }}
          options={SERVICES.map(([name, { name: title }]) => [name, title])}
        />
        <Select
          label="How"
          value={way}
          onChange={(value) => {
            chosen.value = value;
          }}
          options={ways.map((name) => [name, FAULT_WAYS[name]?.title])}
        />
        <Button type="submit" kind="primary" busy={busy}>
          Break
        </Button>
        <p class="soft grow" role="status">
          {FAULT_WAYS[way]?.does} {FAULT_SERVICES[service.value].expect} Only functions and event sources are
          affected, until you clear it.
        </p>
      </form>
      {active.length > 0 && (
        <Table<StageFault>
          label="Active faults"
          rows={active}
          idOf={({ id }) => id}
          columns={[
            { name: 'fault', heading: 'Broken', width: 'minmax(0, 1fr)', cell: faultTitle },
            {
              name: 'hits',
              heading: 'Calls affected',
              end: true,
              cell: ({ hits }) => <Quantity of={hits} />,
            },
            {
              name: 'act',
              heading: 'Clear',
              cell: (fault) => (
                <Button
                  label={`Clear ${faultTitle(fault)}`}
                  onClick={() => run('Cleared.', 'clear', fault.id)}
                >
                  Clear
                </Button>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}

interface SelectProps<Value extends string> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  /** Texts by value. */
  options: readonly (readonly [value: Value, text: string | undefined])[];
}

const Select = <Value extends string>({ label, value, onChange, options }: SelectProps<Value>) => (
  <label class="labelled">
    {label}
    <select
      class="field"
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
    >
      {options.map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  </label>
);
