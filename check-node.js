import { existsSync, readFileSync } from 'node:fs';

/**
 * Ends the process with one line if packages are missing, or if this is not the major version of Node.js that Lambda
 * runs. Every entry point imports it first. Plain JavaScript, because an older Node.js cannot run TypeScript.
 */
const { devDependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const [needed] = devDependencies.node.split('.');
const [major] = process.versions.node.split('.');
const exists = (path) => existsSync(new URL(`node_modules/${path}`, import.meta.url));

if (!exists('node/package.json')) {
  end(
    'Packages are missing. Run: npm ci --include=dev (with NODE_ENV=production or omit=dev, npm leaves out those for development)',
  );
}
if (major !== needed) {
  // npm and npx put this folder first in PATH.
  const action = exists('.bin/node')
    ? 'It is in node_modules/.bin. npm and npx use it: type "npm start", "npm test" or "npx hookctl".'
    : 'An install script of the package node installs it. Run: npm ci --ignore-scripts=false';
  end(`Node.js ${needed} is needed, this is ${process.versions.node}. ${action}`);
}

function end(line) {
  console.error(line);
  process.exit(1);
}
