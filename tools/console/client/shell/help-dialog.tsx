import { Dialog } from '../shared/dialog.tsx';

const GROUPS: readonly { title: string; keys: readonly (readonly [keys: string, does: string])[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      ['1 2 3 4', 'Deliveries, queues, tables, faults'],
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
  return (
    <Dialog title="Keys" onClose={onClose} width="wide">
      <div class="help">
        {GROUPS.map(({ title, keys }) => (
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
    </Dialog>
  );
}
