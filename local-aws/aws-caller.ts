import { createHash } from 'node:crypto';
import { type JsonObject, parseJsonObject } from './aws/json.ts';
import { REGION, SERVICES, type Service } from './aws/service-forms.ts';

export interface ClientSettings {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export function clientSettings(endpoint: string, accessKeyId: string): ClientSettings {
  return { endpoint, region: REGION, credentials: { accessKeyId, secretAccessKey: 'local' } };
}

/** The access key of a role, by which the AWS endpoint recognises the role's calls. */
export function accessKeyOf(roleArn: string): string {
  return `LOCAL${createHash('sha256').update(roleArn).digest('hex').slice(0, 15).toUpperCase()}`;
}

type JsonService = {
  [Name in Service]: (typeof SERVICES)[Name] extends { target: string } ? Name : never;
}[Service];

export type AwsCaller = ReturnType<typeof awsCaller>;

/**
 * Calls the AWS endpoint with the permissions of an access key. Without AWS' clients, which take long to load, and
 * without retries. Errors have the operation and the service's error, or the reason why there is no answer.
 */
export function awsCaller(url: string, accessKeyId: string) {
  async function call(service: string, what: string, path: string, init: RequestInit): Promise<string> {
    const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/-/${REGION}/${service}/aws4_request`;
    const fail = (reason: string) => {
      throw new Error(`${what}: ${reason}`);
    };
    const answer = await fetch(`${url}${path}`, {
      ...init,
      headers: { authorization, ...init.headers },
    }).catch(({ cause, message }) => fail(cause?.code ?? message));
    const text = await answer.text().catch(({ message }) => fail(message));
    if (answer.ok) return text;
    const { __type: type, message } = parseJsonObject(text) ?? {};
    return fail(type === undefined ? text : `${String(type).split('#').at(-1)}: ${message}`);
  }
  return {
    async json(
      service: JsonService,
      operation: string,
      input: object,
      signal?: AbortSignal,
    ): Promise<JsonObject> {
      const headers = { 'x-amz-target': `${SERVICES[service].target}.${operation}` };
      const init = { method: 'POST', headers, body: JSON.stringify(input), signal: signal ?? null };
      return JSON.parse(await call(service, operation, '/', init));
    },
    form: (service: 'sns', fields: Record<string, string>) =>
      call(service, fields.Action ?? '', '/', { method: 'POST', body: new URLSearchParams(fields) }),
    put: (path: string, body?: string) =>
      call('s3', `PUT ${path}`, path, { method: 'PUT', body: body ?? null }),
  };
}
