import { delivery } from './delivery.ts';

const [file = '', samples = '', requests = ''] = process.argv.slice(2);
const { handler } = await import(file);

/** Resident megabytes after each `requests` requests. */
const resident: number[] = [];
for (let sample = 0; sample < Number(samples); sample += 1) {
  for (let number = 0; number < Number(requests); number += 1) {
    const { statusCode } = await handler(delivery(sample * Number(requests) + number), { awsRequestId: 'x' });
    if (statusCode !== 200) throw new Error(`Answered ${statusCode}`);
  }
  resident.push(process.memoryUsage.rss() / 1024 / 1024);
}
process.send?.(resident, () => process.exit());
