import { startTestStack } from './test-stack.ts';

/** Runs a local stack until its standard input ends, and prints its addresses. */
const { name, outputs, operator, close } = await startTestStack();
process.stdout.write(`${JSON.stringify({ name, outputs, operator })}\n`);
process.stdin.resume().on('close', close);
