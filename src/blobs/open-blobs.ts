// Tested by src/hub/start/blobs-config.test.ts and src/blobs/s3/s3-blobs.real.test.ts
/** Opens blobs from their configuration. The configuration is plain data, so that threads receive it. */
import type { Clock } from '../core/time/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { CollectableBlobs } from './blobs.ts'
import { createFileBlobs } from './file-blobs.ts'
import type { S3Settings } from './s3/s3-settings.ts'

export type BlobsConfig =
  /** For processes and threads that share a file system. */
  { readonly kind: 'files'; readonly folder: string } | { readonly kind: 's3'; readonly settings: S3Settings }

export interface OpenBlobs extends CollectableBlobs {
  /** Ends the connections. */
  close(): Promise<void>
}

export interface BlobsPorts {
  readonly clock: Clock
  readonly ids: Ids
}

export async function openBlobs(config: BlobsConfig, { clock, ids }: BlobsPorts): Promise<OpenBlobs> {
  if (config.kind === 'files') return { ...createFileBlobs({ folder: config.folder, ids }), close: async () => {} }
  // Loaded only where a bucket is used: the client costs memory in each thread.
  const [{ createS3Blobs }, { openHttpSockets }] = await Promise.all([
    import('./s3/s3-blobs.ts'),
    import('./s3/send-http.ts'),
  ])
  const sockets = openHttpSockets(config.settings)
  return { ...createS3Blobs({ settings: config.settings, clock, ids, http: sockets.send }), close: sockets.close }
}
