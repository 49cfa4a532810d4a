// What the CDK runs. Plain JavaScript, so that an older Node.js can say which version is needed.
import '../check-node.js';

await import('./app.ts');
