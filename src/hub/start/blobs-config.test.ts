import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openBlobs } from '../../blobs/open-blobs.ts'
import { utf8 } from '../../core/bytes.ts'
import { systemIds } from '../../core/system-ids.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { readHubConfig } from '../config.ts'
import { readBlobsConfig } from './blobs-config.ts'

const read = async (flags: Record<string, string>, environment = {}) =>
  await readBlobsConfig(readHubConfig({ flags: { data: 'd', ...flags }, env: {} }).config, '/hub/blobs', environment)
const KUBE = { kubeconfig: 'home.kubeconfig' }
const KEYS = { accessKeyId: 'id', secretAccessKey: 'key' }

describe('the configuration of blobs', () => {
  it('is a folder without a bucket', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'flotilla-blobs-'))
    t.after(() => rm(folder, { recursive: true }))
    assert.deepEqual(await read({}), { kind: 'files', folder: '/hub/blobs' })
    const blobs = await openBlobs({ kind: 'files', folder }, { clock: systemClock, ids: systemIds })
    assert.deepEqual(await blobs.get(await blobs.put(utf8('x'))), utf8('x'))
    await blobs.close()
  })

  it('takes the bucket apart, and knows AWS', async () => {
    const config = await read({ ...KUBE, blobs: 's3://fleet-blobs/prod/eu' }, { ...KEYS, region: 'eu-west-1' })
    assert.deepEqual(config, {
      kind: 's3',
      settings: {
        bucket: 'fleet-blobs',
        prefix: 'prod/eu/',
        region: 'eu-west-1',
        endpoint: 'https://s3.eu-west-1.amazonaws.com',
        addressing: 'virtual',
        ca: undefined,
        credentials: { from: 'values', sessionToken: undefined, ...KEYS },
      },
    })
  })

  it('addresses other servers by path, with their CA, and prefers a directory of credentials', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'flotilla-blobs-'))
    t.after(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'ca.crt'), 'PEM')
    const flags = { ...KUBE, blobs: 's3://b-1', s3Endpoint: 'https://s3.test:9000', s3Ca: join(folder, 'ca.crt') }
    const config = await read({ ...flags, s3Credentials: folder }, KEYS)
    assert.ok(config.kind === 's3')
    const { endpoint, addressing, ca, credentials, prefix, region } = config.settings
    assert.deepEqual(
      { endpoint, addressing, ca, credentials, prefix, region },
      {
        endpoint: 'https://s3.test:9000',
        addressing: 'path',
        ca: 'PEM',
        credentials: { from: 'folder', folder },
        prefix: '',
        region: 'us-east-1',
      },
    )
  })

  it('uses the web identity of a pod', async () => {
    const config = await read({ ...KUBE, blobs: 's3://b-1' }, { roleArn: 'arn:r', tokenFile: '/token' })
    assert.ok(config.kind === 's3')
    assert.deepEqual(config.settings.credentials, {
      from: 'webIdentity',
      tokenFile: '/token',
      roleArn: 'arn:r',
      tokenService: 'https://sts.us-east-1.amazonaws.com',
    })
  })

  it('refuses what has no effect and what cannot work', async () => {
    await assert.rejects(read({ s3Region: 'eu-west-1' }), /s3Region has no effect without a bucket/)
    await assert.rejects(read({ blobs: 's3://b-1' }, KEYS), /blobs in S3 need a home on a kube-apiserver/)
    await assert.rejects(read({ ...KUBE, blobs: 's3://b-1' }), /no credentials for s3:\/\/b-1/)
    for (const blobs of ['http://x', 's3://', 's3://Upper', 's3://b-1/../x', 's3://b-1/a b', 's3://b-1/a?x=1']) {
      await assert.rejects(read({ ...KUBE, blobs }, KEYS), /must be s3:\/\/BUCKET or s3:\/\/BUCKET\/PREFIX/, blobs)
    }
  })
})
