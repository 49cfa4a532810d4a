import { Visible } from '../text/visible.tsx';

interface HeadersProps {
  headers: readonly (readonly [name: string, value: string])[];
  sourceIp?: string | undefined;
}

export function Headers({ headers, sourceIp }: HeadersProps) {
  return (
    <dl class="headers">
      {sourceIp !== undefined && (
        <div>
          <dt class="headers-own">from</dt>
          <dd>{sourceIp}</dd>
        </div>
      )}
      {headers.map(([name, value], index) => (
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
