import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { listen } from '../../../local/listen.ts';
import { postSigned } from '../../../tools/stage/signed-post.ts';

test('a post that nobody answers ends when it is interrupted', async () => {
  const interruption = new AbortController();
  const { servers, port } = await listen({}, () => interruption.abort(), { port: 0 });
  const post = {
    url: `http://127.0.0.1:${port}/`,
    body: Buffer.of(),
    secret: 's',
    signal: interruption.signal,
  };
  await expect(postSigned(post)).rejects.toMatchObject({ name: 'AbortError' });
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
});
