import { useSignal } from '@preact/signals';
import { counted } from '../../../terminal/text.ts';
import type { NeedsYouMessage } from '../../api.ts';
import { api } from '../api.ts';
import { navigate, route } from '../route.ts';
import { changes, stack } from '../store.ts';
import { Visible } from '../text/visible.tsx';
import { Empty, Problems, Quantity } from '../ui/badge.tsx';
import { Button, Disclose } from '../ui/button.tsx';
import { ReasonDialog } from '../ui/reason-dialog.tsx';
import { Table, toggled } from '../ui/table.tsx';
import { Age } from '../ui/time.tsx';
import { LoadNote, Refresh, useLoad } from '../ui/use-load.tsx';
import { useRun } from '../use-run.tsx';
import { MessageTable } from './message-table.tsx';
import {
  countOf,
  discardMessages,
  groupsOf,
  type MessageGroup,
  redriveMessages,
  redriveQueues,
} from './redrive.ts';

/**
 * Maximum characters of a reason in a group's row. A longer reason is shown in full below the row, where it has the
 * whole width.
 */
const LONG_REASON = 200;

/** Maximum number of messages for which all groups are open at first. */
const MAX_OPEN_MESSAGES = 10;

/** Messages that wait for a person, by queue and reason: `#/needs-you?queue=<queue>&shop=<part of a shop's id>`. */
export function NeedsYouView() {
  const { start, ...state } = useRun();
  const loaded = useLoad('needs you', api.needsYou, changes);
  const { messages: all = [], problems = [], limited = [] } = loaded.value ?? {};
  const { queue = '', shop = '' } = route.value.query;
  const ofShop = all.filter(({ shopId = '' }) => shopId.includes(shop));
  const messages = ofShop.filter((message) => queue === '' || message.queue === queue);
  const discarded = useSignal<readonly NeedsYouMessage[]>([]);
  const discard = (chosen: readonly NeedsYouMessage[]) => {
    discarded.value = chosen;
  };
  const queues = [
    ...new Set([...all.map((message) => message.queue), ...(queue === '' ? [] : [queue])]),
  ].sort();
  const show = (query: Record<string, string>) =>
    navigate({ view: 'needs-you', query: { ...route.peek().query, ...query } }, { replace: true });
  return (
    <div class="page">
      <div class="stack">
        {(all.length > 0 || queue !== '' || shop !== '') && (
          <header class="row">
            <h2 class="intro">
              {counted(countOf(messages), 'message')}, {counted(groupsOf(messages).length, 'reason')}
            </h2>
            <select
              class="field"
              aria-label="Queue"
              value={queue}
              onChange={({ currentTarget }) => show({ queue: currentTarget.value })}
            >
              <option value="">All queues</option>
              {queues.map((name) => (
                <option key={name} value={name}>
                  {name} ({countOf(ofShop.filter((message) => message.queue === name)).toLocaleString('en')})
                </option>
              ))}
            </select>
            <input
              class="field"
              aria-label="Shop"
              placeholder="Shop"
              value={shop}
              onInput={({ currentTarget }) => show({ shop: currentTarget.value })}
            />
            <Refresh of={loaded} />
            {messages.length > 0 && (
              <>
                <Button
                  {...state}
                  onClick={() => start(shop === '' ? redriveQueues(messages) : redriveMessages(messages))}
                >
                  Redrive all
                </Button>
                <Button {...state} onClick={() => discard(messages)}>
                  Discard all …
                </Button>
              </>
            )}
          </header>
        )}
        <LoadNote of={loaded} />
        <Problems
          problems={[...problems, ...limited.map((name) => `${name} has more messages than are shown here.`)]}
        />
        {loaded.value !== undefined && messages.length === 0 && <Nothing />}
        {messages.length > 0 && <Groups messages={messages} state={state} start={start} discard={discard} />}
      </div>
      {discarded.value.length > 0 && (
        <ReasonDialog
          title={`Discard ${counted(countOf(discarded.value), 'message')}`}
          text="They are deleted for good. Redrive them instead if their events still count."
          action="Discard"
          onReason={(reason) => start(discardMessages(discarded.value, reason))}
          onClose={() => discard([])}
        />
      )}
    </div>
  );
}

interface GroupsProps {
  messages: readonly NeedsYouMessage[];
  state: Omit<ReturnType<typeof useRun>, 'start'>;
  start: ReturnType<typeof useRun>['start'];
  discard: (messages: readonly NeedsYouMessage[]) => void;
}

const idOf = ({ queue, reason }: MessageGroup) => `${queue} ${reason}`;
const isLong = ({ reason }: MessageGroup) => reason.length > LONG_REASON;

function Groups({ messages, state, start, discard }: GroupsProps) {
  const groups = groupsOf(messages);
  const areOpen = useSignal(groups.length === 1 || messages.length <= MAX_OPEN_MESSAGES);
  /** Groups that the user has opened or closed by hand. */
  const turned = useSignal<ReadonlySet<string>>(new Set());
  const isOpen = (group: MessageGroup) => turned.value.has(idOf(group)) !== areOpen.value;
  const actions = (own: readonly NeedsYouMessage[], name: string, kind: 'normal' | 'quiet' = 'normal') => (
    <div class="row end">
      <Button {...state} kind={kind} label={`Redrive ${name}`} onClick={() => start(redriveMessages(own))}>
        Redrive
      </Button>
      <Button {...state} kind="quiet" label={`Discard ${name}`} onClick={() => discard(own)}>
        Discard …
      </Button>
    </div>
  );
  return (
    <Table
      label="Messages by reason"
      rows={groups}
      idOf={idOf}
      columns={[
        {
          name: 'reason',
          heading: 'Reason',
          width: 'minmax(0, 1fr)',
          cell: (group) => (
            <Disclose
              open={isOpen(group)}
              onToggle={() => {
                turned.value = toggled(turned.value, idOf(group));
              }}
            >
              <span class={isOpen(group) && !isLong(group) ? undefined : 'clamped'}>
                <Visible text={group.reason} />
              </span>
            </Disclose>
          ),
        },
        { name: 'queue', heading: 'Queue', cell: ({ queue }) => queue },
        { name: 'count', heading: 'Count', end: true, cell: ({ count }) => <Quantity of={count} /> },
        { name: 'first', heading: 'First', end: true, cell: ({ firstAt }) => <Age at={firstAt} /> },
        { name: 'last', heading: 'Last', end: true, cell: ({ lastAt }) => <Age at={lastAt} /> },
        {
          name: 'act',
          heading: 'Actions',
          hidesHeading: true,
          cell: ({ queue, reason, count, messages: own }) =>
            actions(own, `${counted(count, 'message')} of ${queue}: ${reason}`),
        },
      ]}
      below={(group) =>
        isOpen(group) && (
          <div class="stack">
            {isLong(group) && (
              <p>
                <Visible text={group.reason} />
              </p>
            )}
            <MessageTable
              label={`Messages of ${group.queue}: ${group.reason}`}
              messages={group.messages}
              act={(message) => actions([message], message.eventId ?? message.id, 'quiet')}
            />
          </div>
        )
      }
    />
  );
}

function Nothing() {
  const { queue, shop } = route.value.query;
  return (
    <Empty title={queue || shop ? 'No message matches' : 'Nothing needs you'}>
      <p>
        An event that failed ten times, or cannot be processed, becomes a dead letter. Quarantine holds signed
        requests that are not valid events, unrouted holds events of an unknown kind. They are kept here with
        the reason for 14 days. Fix the cause, then redrive them.
      </p>
      {stack.local && (
        <p>
          To see one, start the stack with <code>npx hookctl start --retry-fast</code>, break DynamoDB under{' '}
          <a href="#/queues">Queues</a> and send a sample. Its ten attempts then take about ten seconds.
        </p>
      )}
    </Empty>
  );
}
