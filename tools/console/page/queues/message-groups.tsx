import { useSignal } from '@preact/signals';
import { counted } from '../../../terminal/text.ts';
import type { QueueMessage } from '../../api.ts';
import type { Command } from '../command.ts';
import { Visible } from '../text/visible.tsx';
import { Quantity } from '../ui/badge.tsx';
import { Button, Disclose } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { Table, type TableColumn, toggled } from '../ui/table.tsx';
import { Age } from '../ui/time.tsx';
import type { useRun } from '../use-run.tsx';
import { MessageTable } from './message-table.tsx';
import { type GroupedMessages, groupsOf, queuesOf, redriveMessages } from './named-queue.ts';

type RunAction = ReturnType<typeof useRun>;

/**
 * Maximum characters of a reason in a group's row. A longer reason is shown in full below the row, where it has the
 * whole width.
 */
const LONG_REASON = 200;

/** Maximum number of messages for which all groups are open at first. */
const MAX_OPEN_MESSAGES = 10;

const isLong = ({ reason }: GroupedMessages) => reason.length > LONG_REASON;

interface MessageGroupsProps {
  messages: readonly QueueMessage[];
  /** Whether to show the event of each message, because they may differ. */
  hasEvent: boolean;
  act: RunAction;
}

/** Messages that were set aside, grouped by the reason. */
export function MessageGroups({ messages, hasEvent, act }: MessageGroupsProps) {
  const groups = groupsOf(messages);
  const areOpen = useSignal(groups.length === 1 || messages.length <= MAX_OPEN_MESSAGES);
  /** Reasons of the groups that the user has opened or closed by hand. */
  const turned = useSignal<ReadonlySet<string>>(new Set());
  const isOpen = ({ reason }: GroupedMessages) => turned.value.has(reason) !== areOpen.value;
  const columns: TableColumn<GroupedMessages>[] = [
    {
      name: 'reason',
      heading: 'Reason',
      width: 'minmax(0, 3fr)',
      cell: (group) => (
        <Disclose
          open={isOpen(group)}
          onToggle={() => {
            turned.value = toggled(turned.value, group.reason);
          }}
        >
          <span class={isOpen(group) && !isLong(group) ? undefined : 'clamped'}>
            <Visible text={group.reason} />
          </span>
        </Disclose>
      ),
    },
    {
      name: 'events',
      heading: 'Events',
      width: 'minmax(0, 2fr)',
      cell: (group) => (
        <ul>
          {queuesOf(group.messages).map(({ name, count }) => (
            <li key={name}>
              {name} <span class="soft">{count.toLocaleString('en')}</span>
            </li>
          ))}
        </ul>
      ),
    },
    { name: 'count', heading: 'Count', end: true, cell: ({ count }) => <Quantity of={count} /> },
    { name: 'first', heading: 'First', end: true, cell: ({ firstAt }) => <Age at={firstAt} /> },
    { name: 'last', heading: 'Last', end: true, cell: ({ lastAt }) => <Age at={lastAt} /> },
    {
      name: 'act',
      heading: 'Redrive',
      hidesHeading: true,
      end: true,
      cell: ({ reason, count, messages: own }) => (
        <Redrive
          messages={own}
          text="Redrive"
          label={`Redrive ${counted(count, 'message')}: ${reason}`}
          commands={redriveMessages}
          act={act}
        />
      ),
    },
  ];
  const { start, ...state } = act;
  return (
    <Table
      label="Messages by reason"
      columns={hasEvent ? columns : columns.filter(({ name }) => name !== 'events' && name !== 'first')}
      rows={groups}
      idOf={({ reason }) => reason}
      below={(group) =>
        isOpen(group) && (
          <div class="stack">
            {isLong(group) && (
              <p>
                <Visible text={group.reason} />
              </p>
            )}
            <MessageTable
              label={`Messages: ${group.reason}`}
              messages={group.messages}
              hasState={false}
              act={(message) => (
                <Button
                  {...state}
                  kind="quiet"
                  label={`Redrive ${message.eventId ?? message.id}`}
                  onClick={() => start(redriveMessages([message]))}
                >
                  Redrive
                </Button>
              )}
            />
          </div>
        )
      }
    />
  );
}

interface RedriveProps {
  messages: readonly QueueMessage[];
  text: string;
  label?: string;
  commands: (messages: readonly QueueMessage[]) => readonly Command[];
  act: RunAction;
}

/** Button that redrives messages. If they belong to several events, it opens a menu of the events. */
export function Redrive({ messages, text, label, commands, act }: RedriveProps) {
  const { start, ...state } = act;
  const queues = queuesOf(messages);
  return (
    <span class="joined">
      <Button {...state} label={label} onClick={() => start(commands(messages))}>
        {text}
      </Button>
      {queues.length > 1 && (
        <Menu
          button={<Icon name="down" />}
          label={`${label ?? text}, one event`}
          items={queues.map(({ name, messages: own, count }) => ({
            label: (
              <span class="cut">
                Redrive {name} ({count.toLocaleString('en')})
              </span>
            ),
            refusal: state.refusal,
            onChoose: () => start(commands(own)),
          }))}
        />
      )}
    </span>
  );
}
