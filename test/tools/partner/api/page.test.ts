import { expect, test } from '@jest/globals';
import { fillDocument } from '../../../../tools/partner/api/page.ts';

const page = (text: string) =>
  `<main></main>\n<script type="application/json" id="document">${text}</script>\n<script>draw()</script>\n`;

const inside = (filled: string) => /id="document">([^<]*)<\/script>/.exec(filled)?.[1] ?? '';

test('a page gets another description, and stays as it is otherwise', () => {
  const filled = fillDocument(page('{"old":1}'), '{\n  "new": 2\n}\n');
  expect(filled).toBe(page('{"new":2}'));
});

test('no description ends the script that it is in, or stands for something in a replacement', () => {
  const description = { title: "</script><script>alert('$1 $& $`')</script><!-- <script>" };
  const filled = fillDocument(page(''), JSON.stringify(description));
  expect(filled.match(/<\/?script/g)).toEqual(page('').match(/<\/?script/g));
  expect(JSON.parse(inside(filled))).toEqual(description);
});

test('a page without a place for a description is refused', () => {
  expect(() => fillDocument('<main></main>', '{}')).toThrow(
    'The page has no <script type="application/json" id="document">',
  );
});
