export { type Certificate, listen, makeCertificate } from '../http-server.ts';
export { BODY_LIMIT_BYTES } from './api.ts';
export { httpApi } from './http-api.ts';
export {
  type Header,
  type HttpRequest,
  type HttpResponse,
  requestOf,
  valuesOf,
} from './http-message.ts';
export { httpApiEvent } from './payload-format-2.ts';
