/** A real S3 server for tests: versitygw over a folder. It can be killed and started again with its data. */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { S3Settings } from '../../blobs/s3/s3-settings.ts'
import type { Machine } from '../control-plane/etcd.ts'
import { freePort, type Server, servers } from '../control-plane/server-processes.ts'
import { needBinary } from '../testenv.ts'

export interface S3Server extends AsyncDisposable {
  readonly port: number
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string
  /** Settings of the bucket `flotilla`, which is there. */
  settings(prefix?: string): S3Settings
  /** The folder with one file per object of the bucket. */
  readonly folder: string
  /** Ends the server at once, as kill -9 does. */
  kill(): Promise<void>
  /** Starts the server on the same folder and port. */
  start(): Promise<void>
}

export const S3_ACCOUNT = { accessKeyId: 'flotilla-test', secretAccessKey: 'a secret of tests' } as const
const REGION = 'us-east-1'
const BUCKET = 'flotilla'
const READY_MS = 60_000
const SANDBOX_PORT = 9000

/** Starts a server on this machine, or in a sandbox: there all its addresses reach it. */
export async function startS3Server(machine?: Machine): Promise<S3Server> {
  const dir = mkdtempSync(join(servers().dir, 's3-'))
  // A bucket is a folder of the server's folder.
  mkdirSync(join(dir, BUCKET))
  const port = await (machine?.port(SANDBOX_PORT) ?? freePort())
  const endpoint = `http://${machine?.outside ?? '127.0.0.1'}:${port}`
  const begin = machine?.start ?? servers().start
  let server: Server | undefined
  const start = async (): Promise<void> => {
    server = begin('versitygw', needBinary('versitygw'), [
      `--access=${S3_ACCOUNT.accessKeyId}`,
      `--secret=${S3_ACCOUNT.secretAccessKey}`,
      `--region=${REGION}`,
      `--port=${machine ? '' : '127.0.0.1'}:${port}`,
      '--quiet',
      'posix',
      dir,
    ])
    const until = performance.now() + READY_MS
    for (;;) {
      // Any answer will do: requests without a signature are refused.
      if (
        await fetch(endpoint).then(
          () => true,
          () => false,
        )
      )
        return
      if (!server.alive()) throw new Error(`versitygw ended while starting:\n${server.log()}`)
      if (performance.now() > until)
        throw new Error(`versitygw is not ready after ${READY_MS / 1000} s:\n${server.log()}`)
      await sleep(50)
    }
  }
  const kill = async (): Promise<void> => await server?.kill()
  await start()
  return {
    port,
    endpoint,
    folder: join(dir, BUCKET),
    settings: (prefix = '') => ({
      bucket: BUCKET,
      prefix,
      region: REGION,
      endpoint,
      addressing: 'path',
      credentials: { from: 'values', ...S3_ACCOUNT },
    }),
    kill,
    start,
    [Symbol.asyncDispose]: kill,
  }
}
