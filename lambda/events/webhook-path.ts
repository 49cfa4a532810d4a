/** The one path that the partner posts to (`docs/contract.md`, Endpoint). */
export const WEBHOOK_PATH = '/api/v1/webhooks/partner';
