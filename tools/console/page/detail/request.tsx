import { useMemo, useState } from 'preact/hooks';
import type { DeliveryDetail } from '../../api.ts';
import { Button } from '../shared/button.tsx';
import { copyText } from '../shared/copy.tsx';
import { Empty } from '../shared/empty.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { Loading } from '../shared/loading.tsx';
import { Scrolled } from '../shared/scrolled.tsx';
import { showToast } from '../shell/toasts.tsx';
import { faultText, formatJson, textOf } from '../text/format-json.ts';
import { rawLines } from '../text/lines.ts';
import { TextView } from '../text/text-view.tsx';
import { Headers } from './headers.tsx';
import { type Body, useBody } from './use-body.ts';

const PARTS = ['formatted', 'as sent', 'headers'] as const;
type RequestPart = (typeof PARTS)[number];

const NAMES: Record<RequestPart, string> = {
  formatted: 'Formatted',
  'as sent': 'As sent',
  headers: 'Headers',
};

export function Request({ detail: { id, request } }: { detail: DeliveryDetail }) {
  const [part, setPart] = useState<RequestPart>('formatted');
  const { value: body, error } = useBody(id, request.bodyMissing);
  const parts = PARTS.filter((name) => name !== 'headers' || request.headers.length > 0);
  return (
    <div class="fill">
      <div class="fill-tools">
        <fieldset class="segments" aria-label="Part of the request">
          {parts.map((name) => (
            <button key={name} type="button" aria-pressed={name === part} onClick={() => setPart(name)}>
              {NAMES[name]}
            </button>
          ))}
        </fieldset>
        <span class="fill-note mono cut">
          {request.method} {request.path}
        </span>
        {part !== 'headers' && body !== undefined && <BodyTools id={id} body={body} part={part} />}
      </div>
      {part === 'headers' ? (
        <Scrolled class="fill-headers" label="Headers">
          <Headers headers={request.headers} sourceIp={request.sourceIp} />
        </Scrolled>
      ) : request.bodyMissing !== undefined ? (
        <Empty title="The body is not here">
          <p>{request.bodyMissing}</p>
        </Empty>
      ) : error !== undefined ? (
        <ErrorNote>{error}</ErrorNote>
      ) : body === undefined ? (
        <Loading />
      ) : (
        <BodyText body={body} formatted={part === 'formatted'} />
      )}
    </div>
  );
}

function BodyText({ body, formatted }: { body: Body; formatted: boolean }) {
  const json = useMemo(() => formatJson(body.text), [body.text]);
  const raw = useMemo(() => rawLines(body.text), [body.text]);
  if (body.bytes.length === 0) return <Empty title="The body is empty" />;
  const isFormatted = formatted && json.ok;
  return (
    <>
      {!body.isUtf8 && (
        <p class="fill-warning">
          The bytes are not UTF-8: U+FFFD stands for what is not. Save it to see them.
        </p>
      )}
      {formatted && !json.ok && (
        <p class="fill-warning">No JSON, shown as it was sent. {faultText(json.fault)}</p>
      )}
      <TextView
        key={String(isFormatted)}
        lines={isFormatted ? json.lines : raw}
        label={isFormatted ? 'Body, formatted' : 'Body, as it was sent'}
      />
    </>
  );
}

function BodyTools({ id, body, part }: { id: string; body: Body; part: RequestPart }) {
  const copy = async () => {
    const json = part === 'formatted' ? formatJson(body.text) : undefined;
    const text = json?.ok ? textOf(json.lines) : body.text;
    if (await copyText(text)) showToast({ level: 'info', text: 'Copied the body.' });
  };
  return (
    <>
      <Button kind="quiet" onClick={copy}>
        Copy
      </Button>
      <Button kind="quiet" onClick={() => save(body.bytes, `${id.replaceAll(/[^\w-]/g, '')}.bin`)}>
        Save
      </Button>
    </>
  );
}

/** A browser shows nothing of it: it has no type but bytes. */
function save(bytes: Uint8Array<ArrayBuffer>, name: string): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
