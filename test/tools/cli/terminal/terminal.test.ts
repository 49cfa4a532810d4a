import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const run = async (code: string): Promise<string> => {
  const script = `
    import { LineWriter } from './tools/cli/terminal/terminal.ts';
    const { write } = process.stdout;
    let writes = 0;
    process.stdout.write = (text) => { writes += 1; return write.call(process.stdout, text); };
    const lines = new LineWriter();
    ${code}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
};

it('writes the lines of one moment at once, in their order', async () => {
  const text = await run(`
    for (const line of ['one', 'two', 'three']) lines.write(line);
    setTimeout(() => { lines.write('four'); setTimeout(() => lines.write(String(writes)), 60); }, 60);`);
  expect(text).toBe('one\ntwo\nthree\nfour\n2\n');
});

it('loses no line of a process that ends or dies', async () => {
  expect(await run(`lines.write('last'); process.exit();`)).toBe('last\n');
  expect(await run(`lines.write('last'); throw new Error('of something else');`)).toBe('last\n');
});
