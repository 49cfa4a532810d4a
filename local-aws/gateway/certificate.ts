import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** Path of the certificate's file, for `NODE_EXTRA_CA_CERTS`. */
  readonly file: string;
}

/**
 * Makes a certificate for `localhost`: RSA with 2,048 bits, as AWS endpoints have.
 * @param folder to write the certificate to
 * @param names of the servers, in the form of openssl
 * @throws Error if openssl is missing
 */
export async function makeCertificate(folder: string, names = 'DNS:localhost'): Promise<Certificate> {
  const [file, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  await promisify(execFile)('openssl', [
    ...'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost'.split(' '),
    ...['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', `subjectAltName=${names}`],
    ...['-keyout', keyFile, '-out', file],
  ]);
  return { cert: await readFile(file, 'utf8'), key: await readFile(keyFile, 'utf8'), file };
}
