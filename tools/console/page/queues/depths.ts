import type { Queues } from '../../api.ts';

/** Dead letters of all events. */
export const deadOf = ({ events }: Queues) =>
  events.reduce((total, { dead }) => total + dead.visible + dead.inFlight, 0);
