import { globSync, readFileSync } from 'node:fs';
import type { Root } from 'mdast';
import type { SentenceContent, Root as Text } from 'nlcst';
import { ParseEnglish } from 'parse-english';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRetext from 'remark-retext';
import retextIndefiniteArticle from 'retext-indefinite-article';
import retextRepeatedWords from 'retext-repeated-words';
import { unified } from 'unified';
import { visit } from 'unist-util-visit';
import { VFile } from 'vfile';
import { reporter } from 'vfile-reporter';
import { advice, limits } from './advice.ts';

/** The documents that people read. */
export const proseFiles = () =>
  globSync(['*.md', 'docs/*.md', 'examples/**/README.md'], {
    exclude: (name) => name === 'node_modules' || name === 'target',
  }).sort();

/**
 * Reads documents for what makes them hard to read.
 * @returns a report with file, line and advice; empty if there is nothing to say
 */
export async function lintProse(files = proseFiles()): Promise<string> {
  const checked = await Promise.all(
    files.map(async (path) => {
      const file = new VFile({ path, value: readFileSync(path) });
      await linter.run(linter.parse(file), file);
      return file;
    }),
  );
  return reporter(checked, { quiet: true });
}

const linter = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(() => lines)
  .use(() => phrases)
  .use(remarkRetext, ParseEnglish)
  .use(retextIndefiniteArticle)
  .use(retextRepeatedWords)
  .use(() => sentences)
  .freeze();

function lines(_: Root, file: VFile): void {
  const limit = limits.linesOf[file.path] ?? limits.lines;
  const count = String(file).trimEnd().split('\n').length;
  if (count > limit) file.message(`${count} lines: at most ${limit}`, { line: limit + 1, column: 1 });
}

/** Also reads tables, which have no sentences. */
function phrases(tree: Root, file: VFile): void {
  let prose = String(file);
  visit(tree, ({ type, position }) => {
    if (position === undefined || !['code', 'inlineCode', 'html'].includes(type)) return;
    const [start = 0, end = 0] = [position.start.offset, position.end.offset];
    prose = prose.slice(0, start) + prose.slice(start, end).replace(/[^\n]/g, '`') + prose.slice(end);
  });
  for (const [{ source, flags }, suggestion] of advice) {
    for (const { 0: found, index } of prose.matchAll(new RegExp(source.replaceAll(' ', '\\s+'), flags))) {
      const before = prose.slice(0, index + found.search(/[^.:;\s]/)).split('\n');
      const phrase = found
        .replace(/^[.:;\s]+/, '')
        .trim()
        .replace(/\s+/g, ' ');
      file.message(`“${phrase}”: ${suggestion}`, {
        line: before.length,
        column: (before.at(-1)?.length ?? 0) + 1,
      });
    }
  }
}

/** A piece of code counts as one word. */
function sentences(tree: Text, file: VFile): void {
  const lengths: number[] = [];
  visit(tree, 'SentenceNode', ({ children }) => {
    for (const part of splitBeforeCode(children, String(file))) {
      const words = part.filter(({ type }) => type === 'WordNode' || type === 'SourceNode').length;
      if (words === 0) continue;
      lengths.push(words);
      if (words > limits.wordsPerSentence) {
        const place = part[0]?.position?.start;
        file.message(`A sentence of ${words} words: split it, at most ${limits.wordsPerSentence}`, place);
      }
    }
  });
  const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  if (average > limits.averageWordsPerSentence) {
    const limit = limits.averageWordsPerSentence;
    file.message(`${average.toFixed(1)} words per sentence on average: at most ${limit}`);
  }
}

/** The parser takes a sentence that begins with code for the rest of the one before if a word in lower case follows. */
function splitBeforeCode(children: readonly SentenceContent[], text: string): SentenceContent[][] {
  const parts: SentenceContent[][] = [[]];
  for (const [index, child] of children.entries()) {
    const end = children[index - 1]?.position?.start.offset ?? 0;
    if (child.type === 'SourceNode' && /[.!?]/.test(text.charAt(end - 1))) parts.push([]);
    parts.at(-1)?.push(child);
  }
  return parts;
}
