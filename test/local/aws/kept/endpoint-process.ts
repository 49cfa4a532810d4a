import { startAwsEndpoint } from '../../../../local/aws/endpoint.ts';
import { openKeptState } from '../../../../local/aws/kept-state.ts';

/** An AWS endpoint with its state in a folder, in a process that can be killed. */
const [, , folder = ''] = process.argv;
const kept = await openKeptState(folder, console.error);
const { url } = await startAwsEndpoint({
  port: 0,
  region: 'eu-central-1',
  kept,
  onProblem: console.error,
});
console.log(url);
