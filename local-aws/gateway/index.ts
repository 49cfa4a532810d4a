export { isOfProxy } from './admitted-host.ts';
export { httpApiEvent, restApiEvent } from './gateway-events.ts';
export { httpApi } from './http-api.ts';
export {
  type Header,
  type HttpRequest,
  type HttpResponse,
  pairs,
  requestOf,
  shortId,
  valuesOf,
} from './http-message.ts';
export { BODY_LIMIT_BYTES, type RequestSummary } from './server.ts';
