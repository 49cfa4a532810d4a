import { existsSync, readFileSync } from 'node:fs';

/**
 * Ends the process with one line if this is not the major version of Node.js that Lambda runs. Every entry point
 * imports it first. Plain JavaScript, because an older Node.js cannot run TypeScript.
 */
const { devDependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const [needed] = devDependencies.node.split('.');
const [major] = process.versions.node.split('.');
if (major !== needed) {
  // npm and npx put this folder first in PATH.
  const installed = existsSync(new URL('node_modules/.bin/node', import.meta.url));
  const action = installed
    ? 'It is in node_modules/.bin. npm and npx use it: type "npm start", "npm test" or "npx hookctl".'
    : 'An install script of the package node installs it. Run: npm ci --ignore-scripts=false';
  console.error(`Node.js ${needed} is needed, this is ${process.versions.node}. ${action}`);
  process.exit(1);
}
