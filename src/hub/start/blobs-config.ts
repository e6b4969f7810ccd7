/** Where the blobs of a hub are, from its settings and the environment. */
import { readFile } from 'node:fs/promises'
import { openBlobs } from '../../blobs/open-blobs.ts'
import type { BlobsConfig, OpenBlobs } from '../../blobs/open-blobs.ts'
import type { S3CredentialSource } from '../../blobs/s3/s3-settings.ts'
import { errorHints, Stalled, toError } from '../../core/errors.ts'
import { s3Environment } from '../config.ts'
import type { HubConfig } from '../config.ts'
import type { HubPorts } from '../ports.ts'

/** Opens the blobs and looks whether they answer. A bucket that is missing or refuses this hub ends the start. */
export async function openHubBlobs(config: BlobsConfig, { clock, ids, log }: HubPorts): Promise<OpenBlobs> {
  const blobs = await openBlobs(config, { clock, ids })
  if (config.kind === 'files') return blobs
  try {
    await blobs.list()[Symbol.asyncIterator]().next()
  } catch (caught) {
    const { todo } = errorHints(caught)
    if (todo !== undefined) {
      await blobs.close()
      throw new Stalled('BadConfig', toError(caught).message, { cause: caught, todo })
    }
    // The hub serves its API without the bucket, and what needs content is tried again.
    log.warn({ err: toError(caught) }, 'the S3 bucket of the blob storage does not answer')
  }
  return blobs
}

type S3Environment = ReturnType<typeof s3Environment>

const S3_SETTINGS = ['s3Endpoint', 's3Region', 's3Addressing', 's3Ca', 's3Credentials', 's3TokenService'] as const

/** Files in `folder`, or the bucket of the settings. */
export async function readBlobsConfig(
  config: HubConfig,
  folder: string,
  environment: S3Environment = s3Environment(),
): Promise<BlobsConfig> {
  if (config.blobs === undefined) {
    const given = S3_SETTINGS.find((name) => config[name] !== undefined)
    if (given !== undefined) throw badConfig(`${given} has no effect without a bucket`, 'set blobs to s3://BUCKET')
    return { kind: 'files', folder }
  }
  if (config.kubeconfig === undefined) {
    throw badConfig(
      'blobs in S3 need a home on a kube-apiserver',
      'set kubeconfig, or leave blobs out: the backup of an embedded hub contains its blobs',
    )
  }
  const region = config.s3Region ?? environment.region ?? 'us-east-1'
  const [bucket = '', ...prefix] = config.blobs
    .slice('s3://'.length)
    .split('/')
    .filter((part) => part !== '')
  return {
    kind: 's3',
    settings: {
      bucket,
      prefix: prefix.map((part) => `${part}/`).join(''),
      region,
      endpoint: config.s3Endpoint ?? `https://s3.${region}.amazonaws.com`,
      addressing: config.s3Addressing ?? (config.s3Endpoint === undefined ? 'virtual' : 'path'),
      ca: config.s3Ca === undefined ? undefined : await readFile(config.s3Ca, 'utf8'),
      credentials: credentialsOf(config, region, environment),
    },
  }
}

function credentialsOf(config: HubConfig, region: string, environment: S3Environment): S3CredentialSource {
  if (config.s3Credentials !== undefined) return { from: 'folder', folder: config.s3Credentials }
  const { accessKeyId, secretAccessKey, sessionToken, roleArn, tokenFile } = environment
  if (accessKeyId && secretAccessKey) return { from: 'values', accessKeyId, secretAccessKey, sessionToken }
  if (roleArn && tokenFile) {
    const tokenService = config.s3TokenService ?? `https://sts.${region}.amazonaws.com`
    return { from: 'webIdentity', tokenFile, roleArn, tokenService }
  }
  throw badConfig(
    `no credentials for ${config.blobs!}`,
    'set s3Credentials to a directory, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE',
  )
}

function badConfig(what: string, todo: string): Stalled {
  return new Stalled('BadConfig', what, { todo })
}
