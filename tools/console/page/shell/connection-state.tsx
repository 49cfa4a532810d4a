import type { Connection } from '../stream/event-stream.ts';

const WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  refused: 'Not connected',
} as const;

export function ConnectionState({ connection }: { connection: Connection }) {
  return (
    <span
      class={`connection is-${connection.state}`}
      role="status"
      title={connection.state === 'refused' ? connection.reason : undefined}
    >
      <span class="connection-dot" aria-hidden="true" />
      {WORDS[connection.state]}
    </span>
  );
}
