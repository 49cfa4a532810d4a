import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { DeliveryDetail } from '../../api.ts';
import { api } from '../api.ts';
import { Code } from '../text/code.tsx';
import { formatted, jsonFault } from '../text/format-json.ts';
import { Button, copyAndSay } from '../ui/button.tsx';
import { bytesText } from '../ui/time.tsx';
import { LoadNote, useLoad } from '../ui/use-load.tsx';

/** The body of the request, formatted or as the partner sent it. */
export function Body({ detail: { id, bytes = 0, bodyMissing } }: { detail: DeliveryDetail }) {
  const isAsSent = useSignal(false);
  // The key contains the reason why the body is missing: when the reason changes, the body may be available.
  const loaded = useLoad(`${id} ${bodyMissing ?? ''}`, (signal) => api.body(id, signal));
  const body = bodyMissing === undefined ? loaded.value : undefined;
  const pretty = useMemo(() => body && formatted(body.text), [body]);
  const text = (isAsSent.value ? undefined : pretty) ?? body?.text ?? '';
  return (
    <section class="stack">
      <div class="row">
        <h3 class="grow">
          Body <span class="soft">{bytesText(bytes)}</span>
        </h3>
        {pretty !== undefined && (
          <Button
            kind="quiet"
            onClick={() => {
              isAsSent.value = !isAsSent.value;
            }}
          >
            {isAsSent.value ? 'Formatted' : 'As sent'}
          </Button>
        )}
        {body !== undefined && (
          <>
            <Button kind="quiet" onClick={() => copyAndSay(text, 'Body copied.')}>
              Copy
            </Button>
            <a class="button button-quiet" href={api.bodyAddress(id)} download="body.json">
              Save
            </a>
          </>
        )}
      </div>
      {bodyMissing === undefined ? <LoadNote of={loaded} /> : <p class="soft">{bodyMissing}.</p>}
      {body !== undefined && pretty === undefined && <p class="note tone-warning">{faultOf(body)}</p>}
      {body !== undefined && text !== '' && <Code text={text} label="Body" />}
    </section>
  );
}

function faultOf({ text, isUtf8 }: { text: string; isUtf8: boolean }): string {
  if (text === '') return 'The body is empty.';
  if (!isUtf8) return 'Not UTF-8. U+FFFD replaces each invalid byte. Save the body to see its bytes.';
  return `${jsonFault(text) ?? 'The value is too deep to be formatted'}. It is shown as sent.`;
}
