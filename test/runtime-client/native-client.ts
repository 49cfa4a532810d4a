import { request } from 'node:http';

/**
 * The two calls with which AWS's runtime interface client reports the end of an invocation. The original uses a
 * compiled C++ addon. The bodies are those of the client.
 */
export function done(requestId: string, body: string): void {
  post(`${requestId}/response`, body);
}

export function error(requestId: string, body: string): void {
  post(`${requestId}/error`, body);
}

function post(path: string, body: string): void {
  request(`http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation/${path}`, {
    method: 'POST',
  }).end(body);
}
