import { parentPort, workerData } from 'node:worker_threads';
import { Deliveries, type DeliveriesOptions, type SecondAsked } from './deliveries.ts';

// A separate thread, so that signing does not disturb the measurements of the sending thread.

const deliveries = new Deliveries(workerData as DeliveriesOptions);

parentPort?.on('message', ({ rate, begin }: SecondAsked) => {
  const second = deliveries.next(rate, begin);
  parentPort?.postMessage(second, [second.bytes.buffer, second.ends.buffer, second.offsets.buffer]);
});
