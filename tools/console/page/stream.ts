import { type FeedEvent, joinFeed } from './feeds.ts';
import type { FeedMessage, WindowMessage } from './shared-stream.ts';
import {
  beginRows,
  connection,
  faults,
  putTask,
  stack,
  takeNotice,
  takeQueues,
  takeReady,
  takeReset,
  takeRows,
} from './store.ts';

let search = '';

/** Follows the stream of a search. Undefined stops following. */
let follow: ((search: string | undefined) => void) | undefined;

export function openStream(text: string): void {
  search = text;
  if (follow === undefined) {
    follow = followShared() ?? followAlone();
    document.addEventListener('visibilitychange', update);
  }
  update();
}

/**
 * Follows the search, or no search while the window is hidden. When all windows are hidden, the worker closes the
 * stream.
 */
const update = () => follow?.(document.hidden ? undefined : search);

/**
 * Follows streams by one worker for all windows of the browser, because each stream uses one of the six connections
 * that a browser opens per server.
 * @returns undefined if the browser supports no shared workers or locks
 */
function followShared(): typeof follow {
  if (typeof SharedWorker === 'undefined' || navigator.locks === undefined) return undefined;
  try {
    // The name contains the start time of the server, so that a new server gets a new worker, with its own code.
    const worker = new SharedWorker('/shared-stream.js', { type: 'module', name: stack.startedAt });
    const post = (message: WindowMessage) => worker.port.postMessage(message);
    /** Number of the latest request. Events of earlier requests may still arrive and are ignored. */
    let request = 0;
    worker.onerror = () => {
      worker.port.close();
      follow = followAlone();
      update();
    };
    worker.port.onmessage = ({ data }: MessageEvent<FeedMessage>) => {
      if (data.request === request) data.events.forEach(take);
    };
    const lock = crypto.randomUUID();
    void navigator.locks.request(lock, () => {
      post({ lock });
      return new Promise(() => {});
    });
    return (text) => {
      request += 1;
      post({ search: text, request });
    };
  } catch {
    return undefined;
  }
}

function followAlone(): typeof follow {
  let leave = () => {};
  return (text) => {
    leave();
    leave = text === undefined ? () => {} : joinFeed(text, (events) => events.forEach(take));
  };
}

function take(item: FeedEvent): void {
  switch (item.event) {
    case 'begin':
      beginRows();
      break;
    case 'reset':
      takeReset();
      break;
    case 'deliveries':
      takeRows(item.data);
      break;
    case 'ready':
      takeReady(item.data, search);
      break;
    case 'task':
      putTask(item.data);
      break;
    case 'notice':
      takeNotice(item.data);
      break;
    case 'queues':
      takeQueues(item.data);
      break;
    case 'faults':
      faults.value = item.data;
      break;
    case 'connection':
      connection.value = item.data;
      break;
  }
}
