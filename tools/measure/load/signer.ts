import { parentPort, workerData } from 'node:worker_threads';
import { Deliveries, type DeliveriesOptions } from './deliveries.ts';

/** Which second is to be made: see {@link Deliveries.next}. */
export interface SecondAsked {
  readonly rate: number;
  readonly begin: number;
}

/** A thread of its own, so that what the sending one measures is not its signing. */
const deliveries = new Deliveries(workerData as DeliveriesOptions);

parentPort?.on('message', ({ rate, begin }: SecondAsked) => {
  const second = deliveries.next(rate, begin);
  parentPort?.postMessage(second, [second.bytes.buffer, second.ends.buffer, second.offsets.buffer]);
});
