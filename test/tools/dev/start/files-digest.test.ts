import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { filesDigest } from '../../../../tools/dev/start/kept-assembly.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'files-digest-'));
  mkdirSync(join(root, 'lambda'));
  mkdirSync(join(root, 'elsewhere'));
  save('1');
});
afterEach(() => rmSync(root, { recursive: true }));

const save = (text: string) => writeFileSync(join(root, 'elsewhere/file.ts'), text);
const digest = () => filesDigest([join(root, 'lambda')], {});

test.each([
  ['file', 'elsewhere/file.ts'],
  ['folder', 'elsewhere'],
])('what a symbolic link to a %s leads to is part of it', (_kind, target) => {
  symlinkSync(join(root, target), join(root, 'lambda/link'));
  const before = digest();
  save('2');
  expect(digest()).not.toBe(before);
  save('1');
  expect(digest()).toBe(before);
});

test('a symbolic link back to a folder above it ends nowhere', () => {
  symlinkSync(join(root, 'lambda'), join(root, 'lambda/link'));
  expect(digest()).toBe(digest());
});
