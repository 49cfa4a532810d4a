import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import * as z from 'zod/mini';
import { checkKeptState, FORMAT, openKeptState } from '../../../../local/aws/kept-state.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-webhooks-kept-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const file = () => join(folder, 'fauxqs.db');

const open = () => openKeptState(folder, console.error);

async function openAndClose(): Promise<void> {
  (await open()).close();
}

function change(statement: string): void {
  const database = new DatabaseSync(file());
  database.exec(statement);
  database.close();
}

test('what is kept is for its owner alone', async () => {
  await chmod(folder, 0o755);
  (await open()).close();
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test('a folder that another stack has open is refused, until that one ends', async () => {
  const other = await open();
  const line = `Another stack goes on with ${folder}: stop it first, or start this one without --keep`;
  await expect(open()).rejects.toThrow(line);
  expect(() => checkKeptState(folder)).toThrow(line);
  other.close();
  await openAndClose();
});

test('a file that is no database is refused, and left as it is', async () => {
  await writeFile(file(), 'x'.repeat(10_000));
  const line = `What is kept in ${folder} is damaged: file is not a database. Delete the folder to begin empty, or start without --keep`;
  await expect(open()).rejects.toThrow(line);
  expect(() => checkKeptState(folder)).toThrow(line);
});

test('a database whose pages were overwritten is refused', async () => {
  await openAndClose();
  const bytes = await readFile(file());
  bytes.fill(0x5a, 4_096, bytes.length);
  await writeFile(file(), bytes);
  await expect(open()).rejects.toThrow(`What is kept in ${folder} is damaged: `);
});

test('a value that is not of its form is refused, without a word of what it is', async () => {
  await openAndClose();
  change(`INSERT INTO kept_values VALUES ('secret', 'a', '{"of": "nobody''s business"}')`);
  const kept = await open();
  const schema = z.object({ name: z.string() });
  expect(() => kept.collection('secret', schema).entries()).toThrow(
    new Error(
      `What is kept in ${folder} is damaged. Delete the folder to begin empty, or start without --keep`,
    ),
  );
  kept.close();
});

test.each([
  ['an older', FORMAT - 1],
  ['a newer', FORMAT + 1],
])('%s format is refused, and both are named', async (_which, format) => {
  await openAndClose();
  change(`PRAGMA user_version = ${format}`);
  await expect(open()).rejects.toThrow(
    `${folder} has format ${format}, and this version of the project reads ${FORMAT}: delete the folder to begin empty, or start without --keep`,
  );
});

test('a place where no folder can be is refused', async () => {
  const place = join(folder, 'file');
  await writeFile(place, '');
  await expect(openKeptState(join(place, 'kept'), console.error)).rejects.toThrow(
    `${join(place, 'kept')} cannot be written: ENOTDIR`,
  );
});

test('a start that was killed before anything was made is gone on with', async () => {
  await writeFile(file(), '');
  await openAndClose();
});

/** Hashes of the tables that FORMAT stands for. */
const TABLES = new Map([[2, '6ba815bf4b90005eb9b74a83132e570714b12338c38431b7b2ba761cacefce00']]);

test('the format goes up when a table changes, also one of fauxqs', async () => {
  await openAndClose();
  const database = new DatabaseSync(file());
  const rows = database.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name').all();
  database.close();
  const text = rows.map(({ sql }) => String(sql).replaceAll(/\s+/g, ' ')).join('\n');
  expect(createHash('sha256').update(text).digest('hex')).toBe(TABLES.get(FORMAT));
});
