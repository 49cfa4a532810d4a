/**
 * What Lambda's runtime does with a function's code: loads it, then gives it a request. It is bundled before it is run, so
 * that no time goes into types.
 *
 * Prints when it came to what, in milliseconds since the epoch, and how the request was answered.
 */
const now = () => performance.timeOrigin + performance.now();

const [file = '', request = ''] = process.argv.slice(2);
/** When the parts of a bundle were evaluated, where that notes it. */
const evaluated: unknown[] = [];
Object.assign(globalThis, { evaluated });
const booted = now();
const { handler } = await import(file);
const loaded = now();
const { statusCode } = await handler(JSON.parse(request), { awsRequestId: 'request-1' });
const answered = now();
console.log(JSON.stringify({ booted, loaded, answered, evaluated, statusCode }));
process.exit();
