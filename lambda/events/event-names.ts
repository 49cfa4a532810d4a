/** The forms of an event's name outside the contract. Everything named after an event uses them. */

const words = (event: string) => event.split(/[._]/);

/** Files, consoles and commands: `girl.schedule_changed` → `girl-schedule-changed`. */
export const kebabCase = (event: string) => words(event).join('-');

/** Construct ids and stack outputs: `girl.schedule_changed` → `GirlScheduleChanged`. */
export const pascalCase = (event: string) =>
  words(event)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** The receiver's environment variable with the event's queue: `QUEUE_URL_GIRL_SCHEDULE_CHANGED`. */
export const queueUrlVariable = (event: string) => `QUEUE_URL_${words(event).join('_').toUpperCase()}`;
