/** The worker that all windows of a browser share: it follows the server's streams, and passes them on. */
import { type FeedEvent, joinFeed } from './feeds.ts';

/** A window's request. `search` undefined: it is hidden. `lock` is held until the window is gone. */
export type WindowMessage =
  | { readonly search: string | undefined; readonly request: number }
  | { readonly lock: string };

/** The answer: events of the feed that the window's request named. */
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
      // A port does not report that its window is gone.
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
