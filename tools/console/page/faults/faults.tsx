import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { FaultSettings } from '../../api.ts';
import { api, errorText } from '../api.ts';
import { faults } from '../store.ts';
import { Quantity } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { toastError, toastInfo } from '../ui/notices.tsx';
import { Table } from '../ui/table.tsx';
import {
  canFail,
  expectation,
  type FaultKind,
  type FaultService,
  faultKinds,
  faultServices,
  faultTitle,
  kindNames,
  parseMilliseconds,
  parseShare,
  serviceTexts,
} from './fault-text.ts';

/**
 * Runs a request that changes a fault or a function. A toast reports an error, and `done` after a success.
 */
async function change(work: () => Promise<unknown>, done?: string): Promise<void> {
  try {
    await work();
    if (done !== undefined) toastInfo(done);
  } catch (error) {
    toastError(errorText(error));
  }
}

/** Breaks a service or kills a function of the local stack, and lists what is broken. */
export function Faults() {
  const { active = [], functions = [] } = faults.value ?? {};
  return (
    <section class="stack" aria-labelledby="faults">
      <div>
        <h2 id="faults">Faults</h2>
        <p class="soft prose">
          Break a service, and watch the stack recover. A fault affects calls of functions and event sources
          until you clear it, not this console or commands.
        </p>
      </div>
      <BreakService />
      {active.length > 0 && (
        <Table
          label="Active faults"
          rows={active}
          idOf={({ id }) => id}
          columns={[
            { name: 'fault', heading: 'Active fault', width: 'max-content', cell: faultTitle },
            {
              name: 'act',
              heading: 'Clear',
              hidesHeading: true,
              cell: (fault) => (
                <Button
                  label={`Clear ${faultTitle(fault)}`}
                  onClick={() => change(() => api.endFault(fault.id))}
                >
                  Clear
                </Button>
              ),
            },
            {
              name: 'hits',
              heading: 'Calls affected',
              end: true,
              cell: ({ hits }) => <Quantity of={hits} />,
            },
            {
              name: 'expect',
              heading: 'What to expect',
              width: 'minmax(0, 1fr)',
              cell: (fault) => <span class="soft">{expectation(fault)}</span>,
            },
          ]}
        />
      )}
      {active.length > 1 && (
        <div class="row">
          <Button onClick={() => change(() => api.endFault())}>Clear all faults</Button>
        </div>
      )}
      <KillFunction names={functions} />
    </section>
  );
}

function BreakService() {
  const chosen = useSignal<FaultService>('dynamodb');
  const way = useSignal<FaultKind>('down');
  const share = useSignal('100');
  const milliseconds = useSignal('1500');
  const service = chosen.value;
  const kinds = faultKinds.filter((name) => canFail(service, name));
  const kind = kinds.includes(way.value) ? way.value : 'down';
  const affected = parseShare(share.value);
  const delay = kind === 'slow' ? parseMilliseconds(milliseconds.value) : 0;
  const problem = [affected, delay].find((parsed) => typeof parsed === 'string');
  const settings: FaultSettings = {
    service,
    kind,
    share: Number(affected),
    ...(kind === 'slow' && { milliseconds: Number(delay) }),
  };
  return (
    <>
      <form
        class="row fault-form"
        onSubmit={(submit) => {
          submit.preventDefault();
          if (problem === undefined) void change(() => api.beginFault(settings));
        }}
      >
        <Select
          label="Service"
          value={service}
          onChange={(value) => {
            chosen.value = value;
          }}
          options={faultServices.map((name) => [name, serviceTexts[name].name])}
        />
        <Select
          label="How"
          value={kind}
          onChange={(value) => {
            way.value = value;
          }}
          options={kinds.map((name) => [name, kindNames[name]])}
        />
        {kind === 'slow' && (
          <Field
            name="delay"
            label="Delay in ms"
            value={milliseconds.value}
            problem={typeof delay === 'string' ? delay : undefined}
            onInput={(text) => {
              milliseconds.value = text;
            }}
          />
        )}
        <Field
          name="share"
          label="Share of calls in %"
          value={share.value}
          problem={typeof affected === 'string' ? affected : undefined}
          onInput={(text) => {
            share.value = text;
          }}
        />
        <Button type="submit" kind="primary" refusal={problem}>
          Break
        </Button>
      </form>
      {problem === undefined && (
        <p class="soft prose" role="status">
          {serviceTexts[service].use} {expectation(settings)}
        </p>
      )}
    </>
  );
}

interface SelectProps<Value extends string> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  options: readonly (readonly [value: Value, text: ComponentChildren])[];
}

const Select = <Value extends string>({ label, value, onChange, options }: SelectProps<Value>) => (
  <label class="form-row stack">
    <span>{label}</span>
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

/** Kills a function while it works, as a crash of its machine would. */
function KillFunction({ names }: { names: readonly string[] }) {
  const chosen = useSignal('receiver');
  const kill = (next: boolean, done: string) =>
    change(() => api.kill(chosen.value, next), `${chosen.value} ${done}`);
  return (
    <>
      <div class="row fault-form">
        <Select
          label="Function"
          value={chosen.value}
          onChange={(name) => {
            chosen.value = name;
          }}
          options={names.map((name) => [name, name])}
        />
        <Button onClick={() => kill(false, 'was killed, with any work in progress.')}>Kill now</Button>
        <Button onClick={() => kill(true, 'will be killed during its next invocation.')}>
          Kill on next invocation
        </Button>
      </div>
      <p class="soft prose">
        If the receiver is killed, its delivery gets no response and the partner sends it again. If a consumer
        is killed, its messages come back after their visibility timeout: three minutes, or seconds with{' '}
        <code>--retry-fast</code>.
      </p>
    </>
  );
}
