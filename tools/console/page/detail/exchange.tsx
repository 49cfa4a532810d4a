import type { ComponentChildren } from 'preact';
import type { ExchangeFact } from '../../../stage/history/facts.ts';
import { preciseDuration } from '../../../terminal/text.ts';
import type { DeliveryDetail } from '../../api.ts';
import { stack } from '../store.ts';
import { Code } from '../text/code.tsx';
import { formatted } from '../text/format-json.ts';
import { Visible } from '../text/visible.tsx';
import { Time } from '../ui/time.tsx';

/** Request, response and log lines, each closed until a reader wants it. AWS stores none of them. */
export function Exchange({ detail: { exchange, logs } }: { detail: DeliveryDetail }) {
  if (!stack.local)
    return <p class="soft">AWS stores no headers and no response. Log lines are in CloudWatch.</p>;
  return (
    <section class="stack">
      {exchange !== undefined && <RequestAndResponse {...exchange} />}
      <Part title="Log lines" note={String(logs.length)}>
        <ol class="stack">
          {logs.map(({ at, function: name, text }, index) => (
            <li key={index} class="mono wrap">
              <Time at={new Date(at).toISOString()} milliseconds /> {name}{' '}
              <span class="soft">
                <Visible text={text} />
              </span>
            </li>
          ))}
        </ol>
      </Part>
    </section>
  );
}

const RequestAndResponse = (exchange: ExchangeFact) => (
  <>
    <Part title="Request" note={`${exchange.method} ${exchange.path}`}>
      <Fields fields={[['Source IP address', exchange.sourceIp], ...exchange.headers]} />
    </Part>
    <Part title="Response" note={`${exchange.status} after ${preciseDuration(exchange.durationMs)}`}>
      <Code text={formatted(exchange.responseBody) ?? exchange.responseBody} label="Body of the response" />
      <Fields fields={exchange.responseHeaders} />
    </Part>
  </>
);

const Part = ({ title, note, children }: { title: string; note: string; children: ComponentChildren }) => (
  <details>
    <summary>
      {title}{' '}
      <span class="mono soft">
        <Visible text={note} />
      </span>
    </summary>
    <div class="stack">{children}</div>
  </details>
);

/** A list of names and values. Both may come from outside and are shown as untrusted text. */
const Fields = ({ fields }: { fields: readonly (readonly [name: string, value: string])[] }) => (
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
