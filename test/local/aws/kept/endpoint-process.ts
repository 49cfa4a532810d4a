import { startAwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { openKeptState } from '../../../../local/aws/kept/open.ts';

/** An AWS endpoint that keeps what it holds in a folder, in a process that can be killed: `kept-endpoint.ts` runs it. */
const [, , folder = ''] = process.argv;
const kept = await openKeptState(folder, console.error);
const { url } = await startAwsEndpoint({
  port: 0,
  region: 'eu-central-1',
  accountId: '000000000000',
  kept,
  onProblem: console.error,
});
console.log(url);
