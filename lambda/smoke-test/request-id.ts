/** How the request ids of the smoke test begin. API Gateway's do not, and nobody outside chooses one. */
export const SMOKE_TEST_PREFIX = 'smoke-test-';
