/** The one path of the contract (Endpoints), which the partner posts to. */
export const WEBHOOK_PATH = '/api/v1/webhooks/partner';
