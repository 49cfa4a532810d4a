export { isOfProxy } from './admitted-host.ts';
export { type Certificate, makeCertificate } from './certificate.ts';
export { httpApiEvent } from './gateway-events.ts';
export { httpApi } from './http-api.ts';
export {
  type Header,
  type HttpRequest,
  type HttpResponse,
  pairs,
  requestOf,
  valuesOf,
} from './http-message.ts';
export { listen } from './listen.ts';
export { BODY_LIMIT_BYTES, type RequestSummary } from './server.ts';
