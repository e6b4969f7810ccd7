/** Signs the place that the audit chain has reached, again and again, and keeps the signatures on the API. */
import type { Client } from '../client/client.ts'
import { findObject } from '../client/find-object.ts'
import type { Rest } from '../client/rest.ts'
import { toError } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import { formatTime } from '../core/time/time.ts'
import { ConfigMap } from '../kinds/builtin/core.ts'
import { CHECKPOINTS, lastCheckpointed, withCheckpoint } from '../wire/audit-checkpoint.ts'
import type { HubTrust } from '../wire/trust/hub-keys.ts'
import type { HubPorts } from './ports.ts'

export interface CheckpointOptions extends Pick<HubPorts, 'clock' | 'log'> {
  readonly client: Client
  readonly rest: Pick<Rest, 'json'>
  /** The trust as it is now. */
  readonly trust: () => Pick<HubTrust, 'signer' | 'root' | 'envelopes'>
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

async function signOne({ client, rest, trust, clock }: CheckpointOptions, signal: AbortSignal): Promise<void> {
  const head = await rest.json({ method: 'GET', path: '/audit/head', signal })
  const { sequence, hash } = isObject(head) ? head : {}
  if (typeof sequence !== 'number' || typeof hash !== 'string') throw new TypeError('/audit/head has no sequence')
  const data = (await findObject(client, ConfigMap, CHECKPOINTS, signal))?.data ?? {}
  if (sequence - lastCheckpointed(data) < MIN_RECORDS) return
  const next = withCheckpoint(data, { sequence, hash, time: formatTime(clock.now()) }, trust())
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...CHECKPOINTS }, data: next }
  await client.apply(ConfigMap, object, { fieldManager: 'flotilla-hub-audit', force: true, signal })
}
