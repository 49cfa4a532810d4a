export { curlCommand } from '../editor/curl.ts';
