import { useState } from 'preact/hooks';
import { Dialog } from '../shared/dialog.tsx';
import { useConsole } from './context.ts';
import { hasSingleKeys, setSingleKeys } from './single-keys.ts';

interface Group {
  readonly title: string;
  readonly keys: readonly (readonly [keys: string, does: string])[];
}

const groupsOf = (local: boolean): readonly Group[] => [
  {
    title: 'Everywhere',
    keys: [
      local ? ['1 2 3 4', 'Deliveries, queues, tables, faults'] : ['1 2 3', 'Deliveries, queues, tables'],
      ['/', 'Search deliveries'],
      ['?', 'This help'],
      ['Escape', 'Close, or back to the list'],
    ],
  },
  {
    title: 'List of deliveries',
    keys: [
      ['j k', 'Next, previous'],
      ['Home End', 'Newest, oldest'],
      ['Enter', 'Into the detail'],
      ['n', 'To the newest, and follow them'],
    ],
  },
  {
    title: 'A delivery',
    keys: [
      ['r', 'Resend it'],
      ['e', 'Edit it and send'],
      ['c', 'Copy as curl'],
      ['l', 'Copy a link to it'],
      ['[ ]', 'Previous, next tab'],
    ],
  },
];

export function HelpDialog({ onClose }: { onClose: () => void }) {
  const { stack } = useConsole();
  const [single, setSingle] = useState(hasSingleKeys);
  return (
    <Dialog title="Keys" onClose={onClose} width="wide">
      <div class="help">
        {groupsOf(stack.local).map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([names, does]) => (
                <div key={names}>
                  <dt>
                    {names.split(' ').map((name) => (
                      <kbd key={name}>{name}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label class="help-switch">
        <input
          type="checkbox"
          checked={single}
          onChange={({ currentTarget: { checked } }) => {
            setSingleKeys(checked);
            setSingle(checked);
          }}
        />
        Keys of one character do something
      </label>
      <p class="help-pages">
        To read:{' '}
        <a href="/api-docs/webhook.html" target="_blank" rel="noopener">
          what the partner sends, and what is answered
        </a>
      </p>
    </Dialog>
  );
}
