import type { IncomingHttpHeaders } from 'node:http';
import { AwsError } from '../errors.ts';
import { pathOf, queryOf } from '../http-server.ts';
import type { AwsRequest, HttpRequest, Permission } from '../services.ts';
import { unescapeXml } from '../xml.ts';

/** Sub-resources that S3 has and this endpoint has not. Unnamed, they would pass for the plain operation. */
const UNSUPPORTED = new Set(
  'accelerate acl analytics cors encryption intelligent-tiering inventory legal-hold location logging metrics notification object-lock ownershipControls policy policyStatus publicAccessBlock replication requestPayment restore retention select tagging torrent versioning versions website'.split(
    ' ',
  ),
);

/** A bucket in front of a host name that is the endpoint's own, as in `bucket.localhost:4566`. */
const VIRTUAL_HOST = /^(?:(.+?)\.)??(?:s3\.)?localhost(?::\d+)?$/;

/**
 * Reads what a request asks of S3 from its method and its address, and puts the bucket into the path.
 * @throws AwsError NotImplemented for a sub-resource that is not supported here
 */
export function parseS3Request(http: HttpRequest): Pick<AwsRequest, 'operation' | 'parameters' | 'http'> {
  const { method, headers } = http;
  const query = queryOf(http.url);
  const bucketInHost = VIRTUAL_HOST.exec(headers.host ?? '')?.[1];
  const url = bucketInHost === undefined ? http.url : `/${bucketInHost}${http.url}`;
  const [bucket = '', ...rest] = pathOf(url).slice(1).split('/');
  const key = decode(rest.join('/'));

  const unsupported = [...query.keys()].find((name) => UNSUPPORTED.has(name));
  if (unsupported !== undefined) throw notSupported(`?${unsupported}`);

  const operation = operationOf(method, bucket, key, query, headers);
  return { operation, parameters: { Bucket: bucket, Key: key }, http: { ...http, url } };
}

function operationOf(
  method: string,
  bucket: string,
  key: string,
  query: URLSearchParams,
  headers: IncomingHttpHeaders,
): string {
  if (bucket === '') return 'ListBuckets';
  if (key === '') return bucketOperation(method, query);
  if (query.has('uploads')) return 'CreateMultipartUpload';
  if (query.has('uploadId')) return uploadOperation(method);
  if (query.has('renameObject')) return 'RenameObject';
  switch (method) {
    case 'PUT':
      return headers['x-amz-copy-source'] === undefined ? 'PutObject' : 'CopyObject';
    case 'DELETE':
      return 'DeleteObject';
    case 'HEAD':
      return 'HeadObject';
    case 'GET':
      return query.has('attributes') ? 'GetObjectAttributes' : 'GetObject';
    default:
      throw notSupported(method);
  }
}

function bucketOperation(method: string, query: URLSearchParams): string {
  const lifecycle = query.has('lifecycle');
  switch (method) {
    case 'PUT':
      return lifecycle ? 'PutBucketLifecycleConfiguration' : 'CreateBucket';
    case 'DELETE':
      return lifecycle ? 'DeleteBucketLifecycle' : 'DeleteBucket';
    case 'HEAD':
      return 'HeadBucket';
    case 'GET':
      if (query.has('uploads')) throw notSupported('GET ?uploads');
      return lifecycle ? 'GetBucketLifecycleConfiguration' : 'ListObjects';
    case 'POST':
      if (query.has('delete')) return 'DeleteObjects';
      throw notSupported('POST to a bucket');
    default:
      throw notSupported(method);
  }
}

function uploadOperation(method: string): string {
  switch (method) {
    case 'PUT':
      return 'UploadPart';
    case 'POST':
      return 'CompleteMultipartUpload';
    case 'DELETE':
      return 'AbortMultipartUpload';
    default:
      throw notSupported(`${method} ?uploadId`);
  }
}

function notSupported(what: string): AwsError {
  return new AwsError('NotImplemented', `S3's ${what} is not supported by the local AWS endpoint.`, {
    status: 501,
  });
}

/** IAM's action of each operation that is not named like it. */
const ACTIONS: Record<string, string> = {
  ListBuckets: 'ListAllMyBuckets',
  ListObjects: 'ListBucket',
  HeadBucket: 'ListBucket',
  PutBucketLifecycleConfiguration: 'PutLifecycleConfiguration',
  DeleteBucketLifecycle: 'PutLifecycleConfiguration',
  GetBucketLifecycleConfiguration: 'GetLifecycleConfiguration',
  HeadObject: 'GetObject',
  CopyObject: 'PutObject',
  RenameObject: 'PutObject',
  CreateMultipartUpload: 'PutObject',
  UploadPart: 'PutObject',
  CompleteMultipartUpload: 'PutObject',
  DeleteObjects: 'DeleteObject',
};

/** The permissions that a request of S3 needs. */
export function s3Permissions({ operation, parameters, http }: AwsRequest): Permission[] {
  const { Bucket, Key } = parameters;
  const action = `s3:${ACTIONS[operation] ?? operation}`;
  if (operation === 'ListBuckets') return [{ action, resource: '*' }];
  if (operation === 'DeleteObjects') {
    return keysToDelete(http.body).map((key) => ({ action, resource: `arn:aws:s3:::${Bucket}/${key}` }));
  }
  const permissions = [{ action, resource: `arn:aws:s3:::${Bucket}${Key === '' ? '' : `/${Key}`}` }];
  const source = http.headers['x-amz-copy-source'];
  if (typeof source === 'string') {
    permissions.push({
      action: 's3:GetObject',
      resource: `arn:aws:s3:::${decode(source).replace(/^\//, '')}`,
    });
  }
  return permissions;
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new AwsError('InvalidURI', `Could not decode ${encoded}.`);
  }
}

function keysToDelete(body: Buffer): string[] {
  return [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => unescapeXml(key));
}
