import { AwsError } from './errors.ts';
import type { Fauxqs } from './fauxqs.ts';
import type { AwsResponse } from './response.ts';
import {
  type AwsHttpRequest,
  type AwsRequest,
  type NeededPermission,
  pathOf,
  queryOf,
} from './service-forms.ts';

/** S3: fauxqs, plus conditional writes, which fauxqs lacks. */
export function createS3(fauxqs: Fauxqs) {
  let lastConditionalWrite: Promise<unknown> = Promise.resolve();

  function answer(http: AwsHttpRequest): Promise<AwsResponse> {
    const { 'if-match': match, 'if-none-match': noneMatch } = http.headers;
    if (http.method !== 'PUT' || (match === undefined && noneMatch === undefined)) return fauxqs.send(http);
    // Conditional writes run one after another, so that only one of two writes with the same condition succeeds.
    const written = lastConditionalWrite.then(async () => {
      await assertCondition(http);
      return fauxqs.send(http);
    });
    lastConditionalWrite = written.catch(() => {});
    return written;
  }

  /**
   * Checks the condition of a write, which fauxqs ignores. Source: S3 user guide, "How to prevent object
   * overwrites with conditional writes".
   * @throws AwsError PreconditionFailed, or NoSuchKey if there is no object to replace
   */
  async function assertCondition({ url, headers }: AwsHttpRequest): Promise<void> {
    const { 'if-match': match, 'if-none-match': noneMatch } = headers;
    const { status, headers: found } = await fauxqs.send({ method: 'HEAD', url, headers: {}, body: '' });
    const exists = status === 200;
    if (match !== undefined && !exists) {
      throw new AwsError('NoSuchKey', 'The specified key does not exist.', { status: 404 });
    }
    if ((match !== undefined && found.etag !== match) || (noneMatch !== undefined && exists)) {
      const message = 'At least one of the pre-conditions you specified did not hold';
      throw new AwsError('PreconditionFailed', message, { status: 412 });
    }
  }

  return {
    answer,
    async putGzip(bucket: string, key: string, body: Buffer): Promise<void> {
      const { status, body: document } = await fauxqs.send({
        method: 'PUT',
        url: `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`,
        headers: {
          'content-type': 'application/octet-stream',
          'content-length': String(body.length),
          'content-encoding': 'gzip',
        },
        body,
      });
      if (status === 200) return;
      const [, code = status] = /<Code>([^<]*)/.exec(document.toString()) ?? [];
      throw new Error(`S3 did not accept an object for ${bucket}: ${code}`);
    },
  };
}

/**
 * Operations by method, and by the sub-resource in the query string if there is one. The second name is that of the IAM
 * action, if it differs.
 */
const BUCKET_OPERATIONS = new Map([
  ['GET', ['ListObjects', 'ListBucket']],
  ['HEAD', ['HeadBucket', 'ListBucket']],
  ['PUT', ['CreateBucket']],
  ['DELETE', ['DeleteBucket']],
  ['POST ?delete', ['DeleteObjects', 'DeleteObject']],
  ['GET ?lifecycle', ['GetBucketLifecycleConfiguration', 'GetLifecycleConfiguration']],
  ['PUT ?lifecycle', ['PutBucketLifecycleConfiguration', 'PutLifecycleConfiguration']],
]);

const OBJECT_OPERATIONS = new Map([
  ['GET', ['GetObject']],
  ['HEAD', ['HeadObject', 'GetObject']],
  ['PUT', ['PutObject']],
  ['DELETE', ['DeleteObject']],
]);

/**
 * All sub-resources of S3, and the parameters that select a part or a version. A request for one that is missing here
 * would be taken for a request for the bucket or object itself.
 */
const SUBRESOURCES = new Set(
  'accelerate acl analytics attributes cors delete encryption intelligent-tiering inventory legal-hold lifecycle location logging metrics notification object-lock ownershipControls partNumber policy policyStatus publicAccessBlock renameObject replication requestPayment restore retention select tagging torrent uploadId uploads versionId versioning versions website'.split(
    ' ',
  ),
);

/** A bucket name before the endpoint's own host name: `bucket.localhost:4566`. */
const VIRTUAL_HOST = /^(?:(.+?)\.)??(?:s3\.)?localhost(?::\d+)?$/;

/**
 * Reads the S3 operation from method and URL, and moves the bucket into the path.
 * @throws AwsError NotImplemented for an operation that is not supported here
 */
export function parseS3Request(http: AwsHttpRequest): Pick<AwsRequest, 'operation' | 'parameters' | 'http'> {
  const bucketInHost = VIRTUAL_HOST.exec(http.headers.host ?? '')?.[1];
  const url = bucketInHost === undefined ? http.url : `/${bucketInHost}${http.url}`;
  const [bucket = '', ...rest] = pathOf(url).slice(1).split('/');
  const key = decode(rest.join('/'));
  return {
    operation: bucket === '' ? 'ListBuckets' : operationOf(http, key),
    parameters: { Bucket: bucket, Key: key },
    http: { ...http, url },
  };
}

function operationOf({ method, url, headers }: AwsHttpRequest, key: string): string {
  const subresource = [...queryOf(url).keys()].find((name) => SUBRESOURCES.has(name));
  const what = subresource === undefined ? method : `${method} ?${subresource}`;
  const [name] = (key === '' ? BUCKET_OPERATIONS : OBJECT_OPERATIONS).get(what) ?? [];
  if (name === undefined) {
    throw new AwsError('NotImplemented', `S3's ${what} is not supported by the local AWS endpoint.`, {
      status: 501,
    });
  }
  return name === 'PutObject' && headers['x-amz-copy-source'] !== undefined ? 'CopyObject' : name;
}

const ACTIONS: Readonly<Record<string, string>> = {
  ListBuckets: 'ListAllMyBuckets',
  CopyObject: 'PutObject',
  ...Object.fromEntries(
    [...BUCKET_OPERATIONS.values(), ...OBJECT_OPERATIONS.values()].map(([name, action = name]) => [
      name,
      action,
    ]),
  ),
};

export function s3Permissions({ operation, parameters, http }: AwsRequest): NeededPermission[] {
  const { Bucket, Key } = parameters;
  const action = `s3:${ACTIONS[operation]}`;
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

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(amp|lt|gt|quot|apos));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return CHARACTERS[name] ?? whole;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });
}
