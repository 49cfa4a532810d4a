import { useSignal } from '@preact/signals';
import type { DeliveryDetail } from '../../api.ts';
import { api, type DeliveryBody } from '../api.ts';
import { TextView } from '../text/text-view.tsx';
import { Visible } from '../text/visible.tsx';
import { Badge, Empty, ErrorNote, Loading, Scrolled } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { copyAndSay } from '../ui/copy.tsx';
import { saveFile } from '../ui/save-file.ts';
import { durationText } from '../ui/time.tsx';
import { useLoad } from '../ui/use-load.tsx';

const PARTS = { formatted: 'Formatted', 'as sent': 'As sent', headers: 'Headers' } as const;
type RequestPart = keyof typeof PARTS;

export function Request({ detail: { id, request } }: { detail: DeliveryDetail }) {
  const chosen = useSignal<RequestPart>('formatted');
  const part = chosen.value;
  // The key contains the reason why the body is missing: when the reason changes, the body may be available.
  const { value: body, error } = useLoad(`${id} ${request.bodyMissing ?? ''}`, (signal) =>
    api.body(id, signal),
  );
  const parts = Object.entries(PARTS).filter(
    ([name]) => name !== 'headers' || request.headers.length > 0,
  ) as [RequestPart, string][];
  return (
    <div class="request stack">
      <div class="row">
        <fieldset class="segments" aria-label="Part of the request">
          {parts.map(([name, label]) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === part}
              onClick={() => {
                chosen.value = name;
              }}
            >
              {label}
            </button>
          ))}
        </fieldset>
        <span class="mono soft grow">
          {request.method} {request.path}
        </span>
        {part !== 'headers' && body !== undefined && <BodyTools id={id} body={body} part={part} />}
      </div>
      {part === 'headers' ? (
        <Scrolled label="Headers">
          <Fields fields={[...fromOf(request.sourceIp), ...request.headers]} />
        </Scrolled>
      ) : request.bodyMissing !== undefined ? (
        <Empty title="The body is not available">
          <p>{request.bodyMissing}</p>
        </Empty>
      ) : error !== undefined ? (
        <ErrorNote>{error}</ErrorNote>
      ) : body === undefined ? (
        <Loading />
      ) : (
        <BodyText body={body} asSent={part === 'as sent'} />
      )}
    </div>
  );
}

const fromOf = (sourceIp: string | undefined) =>
  sourceIp === undefined ? [] : [['Source IP address', sourceIp] as const];

function BodyText({ body, asSent }: { body: DeliveryBody; asSent: boolean }) {
  if (body.bytes.length === 0) return <Empty title="The body is empty" />;
  return (
    <>
      {!body.isUtf8 && (
        <p class="note tone-warning">
          The body is not UTF-8. U+FFFD replaces each invalid byte. Save the body to see its bytes.
        </p>
      )}
      <TextView
        key={String(asSent)}
        text={body.text}
        asSent={asSent}
        explains={!asSent}
        label={asSent ? 'Body, as sent' : 'Body, formatted'}
      />
    </>
  );
}

function BodyTools({ id, body, part }: { id: string; body: DeliveryBody; part: RequestPart }) {
  const copy = () =>
    copyAndSay(part === 'formatted' ? formattedIfJson(body.text) : body.text, 'Body copied.');
  return (
    <>
      <Button kind="quiet" onClick={copy}>
        Copy
      </Button>
      <Button kind="quiet" onClick={() => saveFile(`${id.replaceAll(/[^\w-]/g, '')}.bin`, body.bytes)}>
        Save
      </Button>
    </>
  );
}

async function formattedIfJson(text: string): Promise<string> {
  const { formatJson } = await import('../text/format-json.ts');
  const json = formatJson(text);
  return json.ok ? json.text : text;
}

/** Maximum rows of the body in view, so that the headers below it are visible. */
const ROWS = 16;

export function Response({ answer }: Pick<DeliveryDetail, 'answer'>) {
  if (answer === undefined) {
    return (
      <Empty title="No response is known">
        <p>The receiver has not answered yet, or this is a stage: AWS does not keep responses.</p>
      </Empty>
    );
  }
  const { status, durationMs, responseBody, responseHeaders } = answer;
  return (
    <Scrolled class="overview stack" label="Response">
      <p class="row">
        <Badge tone={status < 300 ? 'good' : status < 500 ? 'warning' : 'bad'}>{status}</Badge>
        after {durationText(durationMs)}
      </p>
      <section class="stack">
        <h3>Body</h3>
        {responseBody === '' ? (
          <p class="soft">The body is empty.</p>
        ) : (
          <TextView text={responseBody} label="Body of the response" rows={ROWS} />
        )}
      </section>
      <section class="stack">
        <h3>Headers</h3>
        <Fields fields={responseHeaders} />
      </section>
    </Scrolled>
  );
}

/** A list of names and values. Both may come from outside and are shown as untrusted text. */
export function Fields({ fields }: { fields: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl class="fields mono">
      {fields.map(([name, value], index) => (
        <div key={index}>
          <dt>
            <Visible text={name} />
          </dt>
          <dd>
            <Visible text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
