#!/usr/bin/env node
import '../check-node.js';

// Not a static import: those are loaded before the check runs.
const { main } = await import('./program.ts');
await main(process.argv.slice(2));
