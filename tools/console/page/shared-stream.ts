/**
 * SharedWorker for all windows of a browser: it holds the connections to the server's streams, and passes
 * events on.
 */
import { type FeedEvent, joinFeed } from './feeds.ts';

/**
 * Request of a window to follow a search, or none while the window is hidden. The window holds the Web Lock
 * `lock` until it is closed.
 */
export type WindowMessage =
  | { readonly search: string | undefined; readonly request: number }
  | { readonly lock: string };

/** Answer to a window: an event, with the number of the request that it belongs to. */
export interface FeedMessage {
  readonly request: number;
  readonly events: readonly FeedEvent[];
}

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (port === undefined) return;
  let leave = () => {};
  port.onmessage = ({ data }: MessageEvent<WindowMessage>) => {
    if ('lock' in data) {
      // A `MessagePort` does not report that its window was closed; the release of the window's lock does.
      void navigator.locks.request(data.lock, () => leave());
      return;
    }
    const { search, request } = data;
    leave();
    leave = () => {};
    if (search === undefined) return;
    leave = joinFeed(search, (events) => port.postMessage({ request, events } satisfies FeedMessage));
  };
});
