/** Share of the requests for objects that still asks KMS with a bucket key. Source: S3 user guide, "S3 Bucket Keys". */
export const BUCKET_KEY_SHARE = 0.01;
