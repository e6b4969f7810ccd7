/** Settings of blobs in a bucket of an S3 server. Plain data, so that threads receive them. */

/** Where the credentials come from; `none` for a bucket that is open for reading. */
export type S3CredentialSource = S3AccountSource | { readonly from: 'none' }

/** Where the keys of an account come from. Files are read again, so that a rotation needs no restart. */
export type S3AccountSource =
  /** A folder with the files `access-key-id`, `secret-access-key` and, optional, `session-token`: a mounted Secret. */
  | { readonly from: 'folder'; readonly folder: string }
  | {
      readonly from: 'values'
      readonly accessKeyId: string
      readonly secretAccessKey: string
      readonly sessionToken?: string | undefined
    }
  /** A token of the platform, exchanged at the security token service for credentials that expire. */
  | {
      readonly from: 'webIdentity'
      readonly tokenFile: string
      readonly roleArn: string
      /** `https://…` of the security token service. */
      readonly tokenService: string
    }

/** A bucket and how to reach it. */
export interface S3Settings {
  readonly bucket: string
  /** Begins every key; empty, or ends with a slash. */
  readonly prefix: string
  readonly region: string
  /** `https://HOST[:PORT]` of the server. */
  readonly endpoint: string
  /** `path`: the bucket is the first part of the path; `virtual`: the bucket is the first part of the host name. */
  readonly addressing: 'path' | 'virtual'
  /** PEM of the CAs of the server. Defaults to the CAs of the machine. */
  readonly ca?: string | undefined
  readonly credentials: S3CredentialSource
}

/** The bucket as people write it, for messages. */
export function bucketUrl({ bucket, prefix }: Pick<S3Settings, 'bucket' | 'prefix'>): string {
  return `s3://${bucket}${prefix === '' ? '' : `/${prefix.slice(0, -1)}`}`
}
