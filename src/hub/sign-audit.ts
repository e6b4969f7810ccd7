/** Signs the place that the audit chain has reached, again and again, and keeps the signatures on the API. */
import type { Client } from '../client/client.ts'
import { findObject } from '../client/find-object.ts'
import type { Rest } from '../client/rest.ts'
import { isApiError, toError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import { isObject } from '../core/json.ts'
import { formatTime } from '../core/time/time.ts'
import { ConfigMap } from '../kinds/builtin/core.ts'
import { CHECKPOINTS, lastCheckpointed, withCheckpoint } from '../wire/audit-checkpoint.ts'
import type { AuditCheckpoint } from '../wire/audit-checkpoint.ts'
import type { HubTrust } from '../wire/trust/hub-keys.ts'
import { readFileIfExists, replaceFileAtomically } from './home/atomic-files.ts'
import type { HubPorts } from './ports.ts'

export interface CheckpointOptions extends Pick<HubPorts, 'clock' | 'log'> {
  readonly client: Client
  readonly rest: Pick<Rest, 'json'>
  readonly lastSigned: LastSigned
  /** The trust as it is now. */
  readonly trust: () => Pick<HubTrust, 'signer' | 'root' | 'envelopes'>
}

/** A record of the chain that has a signature. */
export type SignedPlace = Pick<AuditCheckpoint, 'sequence' | 'hash'>

/**
 * The place that the hub signed last, kept outside of the database: a person who can write only the database can write
 * the chain anew and remove checkpoints, and must not get a signature for the result.
 */
export interface LastSigned {
  /** Name of the place where it is kept, for messages. */
  readonly where: string
  read(): Promise<SignedPlace | undefined>
  write(place: SignedPlace): Promise<void>
}

const INTERVAL_MS = 600_000
const RETRY_MS = 30_000
/** Each checkpoint is itself a change with a record; fewer new records are not worth one. */
const MIN_RECORDS = 10

/** Signs until the signal is aborted. Never rejects: without a checkpoint the chain itself stays whole. */
export async function signCheckpoints(options: CheckpointOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options
  while (!signal.aborted) {
    let waitMs = INTERVAL_MS
    try {
      await signOne(options, signal)
    } catch (caught) {
      if (signal.aborted) return
      waitMs = RETRY_MS
      log.warn({ err: toError(caught) }, 'the audit log could not be signed')
    }
    await clock.sleep(waitMs, signal).catch(() => {}) // aborted: the loop ends
  }
}

async function signOne(options: CheckpointOptions, signal: AbortSignal): Promise<void> {
  const { client, rest, trust, clock, lastSigned } = options
  const head = placeOf(await rest.json({ method: 'GET', path: '/audit/head', signal }))
  if (!(await hasLastSigned(options, signal))) return
  const data = (await findObject(client, ConfigMap, CHECKPOINTS, signal))?.data ?? {}
  if (head.sequence - lastCheckpointed(data) < MIN_RECORDS) return
  const next = withCheckpoint(data, { ...head, time: formatTime(clock.now()) }, trust())
  // Before the checkpoint: a place without a checkpoint does no harm, and a checkpoint without its place would.
  await lastSigned.write(head)
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...CHECKPOINTS }, data: next }
  await client.apply(ConfigMap, object, { fieldManager: 'flotilla-hub-audit', force: true, signal })
}

/** False when the log was written anew or cut since the last signature: the hub must not sign what replaced it. */
async function hasLastSigned({ rest, log, lastSigned }: CheckpointOptions, signal: AbortSignal): Promise<boolean> {
  const last = await lastSigned.read()
  if (!last) return true
  const { sequence, hash } = last
  const path = `/audit/head?at=${sequence}`
  const found = await rest.json({ method: 'GET', path, signal }).catch((caught: unknown) => {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  })
  if (found !== undefined && placeOf(found).hash === hash) return true
  log.error(
    { sequence, hash },
    `the audit log no longer has record ${sequence} as the hub signed it, and the hub does not sign the log. Compare the database with a backup. If you put an older database here, remove ${lastSigned.where}`,
  )
  return false
}

function placeOf(value: unknown): SignedPlace {
  const { sequence, hash } = isObject(value) ? value : {}
  if (typeof sequence !== 'number' || typeof hash !== 'string') throw new TypeError('sequence or hash is missing')
  return { sequence, hash }
}

/** Keeps the place in a private file. */
export function keepLastSigned(file: string, ids: Pick<Ids, 'suffix'>): LastSigned {
  return {
    where: file,
    async read() {
      const text = await readFileIfExists(file)
      if (text === undefined) return undefined
      try {
        return placeOf(JSON.parse(text))
      } catch (cause) {
        throw new Error(`${file} is not valid: ${toError(cause).message}`, { cause })
      }
    },
    write: ({ sequence, hash }) => replaceFileAtomically(file, `${JSON.stringify({ sequence, hash })}\n`, ids),
  }
}
