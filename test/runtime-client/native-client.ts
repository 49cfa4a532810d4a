import { request } from 'node:http';

/**
 * The two calls by which AWS' runtime interface client says how an invocation ended. It makes them in an addon of
 * C++, which has to be compiled; the bodies are its own.
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
