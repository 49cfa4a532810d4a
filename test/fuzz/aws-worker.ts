import { parentPort } from 'node:worker_threads';
import { startTestAws } from '../support/test-aws.ts';

/** The AWS endpoint on a thread, and so a core, of its own. It ends with its thread. */
const { outputs, operator } = await startTestAws();
parentPort?.postMessage({ outputs, operator });
