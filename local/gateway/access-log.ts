import { commonLogTime } from '../../events/gateway-events.ts';
import type { Api } from './server.ts';

/** A variable of the format, such as `$context.identity.sourceIp`. */
const VARIABLE = /\$context\.(\w+(?:\.\w+)*)/g;

/** What API Gateway writes for a variable that has no value. */
const NO_VALUE = '-';

/**
 * The same API, which logs each request that it has answered. `integrationErrorMessage` has no value here: its texts are
 * not documented.
 * Source: API Gateway developer guide, "Variables for access logging".
 * @param format of a line, with variables
 */
export function withAccessLog(api: Api, format: string, write: (line: string) => void): Api {
  return {
    async answer(request, readBody) {
      const start = performance.now();
      const answer = await api.answer(request, readBody);
      const { response, context } = answer;
      if (context === undefined) return answer;
      const values: Readonly<Record<string, string>> = {
        'identity.sourceIp': request.sourceIp,
        httpMethod: request.method,
        requestTime: commonLogTime(request.receivedAt),
        responseLatency: String(Math.round(performance.now() - start)),
        responseLength: String(response.body.length),
        status: String(response.status),
        ...context,
      };
      write(format.replace(VARIABLE, (_, name: string) => values[name] ?? NO_VALUE));
      return answer;
    },
  };
}
