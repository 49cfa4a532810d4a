import '../check-node.js';

// Not a static import: those are loaded before the check runs.
import('./program.ts');
