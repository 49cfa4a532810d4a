import { startTestStack } from './test-stack.ts';

/** Runs a local stack until its standard input ends, and prints its addresses. */
const { name, outputs, awsUrl, operator, close } = await startTestStack();
process.stdout.write(`${JSON.stringify({ name, outputs, awsUrl, operator })}\n`);
process.stdin.resume().on('close', close);
