/**
 * Does the work of Lambda's runtime with a function's code: loads it, then passes a request to it. It is bundled first,
 * because stripping types takes time.
 *
 * Prints the times of the start in milliseconds since the epoch, and the status of the answer.
 */
const now = () => performance.timeOrigin + performance.now();

const [file = '', request = ''] = process.argv.slice(2);
/** When the parts of a bundle were evaluated, if the bundle records it. */
const evaluated: unknown[] = [];
Object.assign(globalThis, { evaluated });
const booted = now();
const { handler } = await import(file);
const loaded = now();
const { statusCode } = await handler(JSON.parse(request), { awsRequestId: 'request-1' });
const answered = now();
console.log(JSON.stringify({ booted, loaded, answered, evaluated, statusCode }));
process.exit();
