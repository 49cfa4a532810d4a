import { useState } from 'preact/hooks';
import type { Notice } from '../../api.ts';
import { Icon } from '../shared/icon.tsx';
import type { Connection } from '../stream/event-stream.ts';

/** Each stream tells of the same notices anew. */
const sayingOf = ({ about, text }: Notice) => `${about} ${text}`;

/** What the server has to say to whoever looks, in the corner: it covers nothing that has to be read, and moves nothing. */
export function Notices({ notices, connection }: { notices: readonly Notice[]; connection: Connection }) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const shown = notices.filter((notice) => !closed.has(sayingOf(notice)));
  return (
    <div class="notices" role="status">
      {connection.state === 'refused' && (
        <div class="notice is-error">
          <p>{connection.reason}</p>
        </div>
      )}
      {shown.map((notice) => (
        <div key={notice.about} class={`notice is-${notice.level}`}>
          <p>{notice.text}</p>
          <button
            type="button"
            class="icon-button"
            aria-label="Close this notice"
            onClick={() => setClosed(new Set([...closed, sayingOf(notice)]))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
